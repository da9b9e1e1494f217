// The own engine against the simulator, on this machine. Usage: see --help.
import {execFileSync} from 'node:child_process';
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {bench_model, kNeverEnds} from '../lib/model.mjs';
import {Random} from '../lib/random.mjs';
import {completed, ttft_ms} from '../lib/records.mjs';
import {root, run_load, start_tidegate} from '../lib/servers.mjs';
import {median, quantile, rounded, table} from '../lib/stats.mjs';

const kHelp = `bench/own_engine.sh [OPTIONS]
The same requests through \`tidegate serve\` and through the simulator. One server, three parts:
probes, one at a time, show what lies in front of the pool (HTTP, tokenizing, this client); a closed
loop shows the capacity while the engine learns its law; then comes the judged part, at random times
and below capacity. The simulator gets the arrivals and lengths from the journal and the law as the
engine had learned it when the judged part began; and once more, as it was on the average in it,
which shows how much a change of the machine's speed makes. With several rounds the judged part is
served so often, the very same requests each time: how far those are apart is what no simulator can
tell, and with the median over them.
  --seconds S     length of the judged part (75)
  --rounds N      times that it is served, 1 to 9 (1)
  --load F        of the capacity (0.65)
  --learn N       requests of the closed loop (64)
  --threads N     compute threads (1)
  --unified       one KV pool for all sequences
  --seed N        of arrivals and prompts (1)
  --model FILE    instead of the random 100M model
  --out FILE      the figures as JSON (.cache/bench/own_engine.json)
`;
const {values: options} = parseArgs({options: {
  seconds: {type: 'string', default: '75'}, load: {type: 'string', default: '0.65'},
  rounds: {type: 'string', default: '1'},
  learn: {type: 'string', default: '64'}, threads: {type: 'string', default: '1'},
  unified: {type: 'boolean', default: false}, seed: {type: 'string', default: '1'},
  model: {type: 'string'}, help: {type: 'boolean', short: 'h'},
  out: {type: 'string', default: path.join(root, '.cache/bench/own_engine.json')},
}});
if (options.help) {
  console.log(kHelp);
  process.exit(0);
}
const kSequences = 8;
const kCachedTokens = 2048;
const folder = path.dirname(path.resolve(options.out));
const journal = path.join(folder, 'own_engine.journal');
const random = new Random(Number(options.seed));
const judged_classes = Array.from({length: Number(options.rounds)}, (_, i) => `judged${i + 1}`);

function config() {
  const file = path.join(folder, 'own_engine.yaml');
  const classes = ['probe', 'learn', ...judged_classes]
      .map((name) => `{name: ${name}, ttft: 10min, tpot: 400ms}`).join(', ');
  writeFileSync(file, `
server:  {journal: {path: "${journal}"}}
engines: [{llama: "${bench_model(options.model)}", name: bench, threads: ${options.threads},
           max_sequences: ${kSequences}, kv_tokens: ${kSequences * 1024},
           cached_tokens: ${kCachedTokens}, kv_unified: ${options.unified}}]
models:  [{name: bench}]
classes: [${classes}]
tenants: [{name: bench, class: probe, classes: ["*"], on_overload: queue}]
`);
  return file;
}

function request(kind, prompt_tokens, output_tokens) {
  return {
    kind, headers: {'x-tidegate-class': kind},
    body: {model: 'bench', prompt: random.words(prompt_tokens), max_tokens: output_tokens,
           temperature: 0, logit_bias: kNeverEnds, stream: true,
           stream_options: {include_usage: true}},
  };
}

// Three in four are short, the others long: prompts of 32 to 700 tokens.
function mixed(kind) {
  const long = random.unit() < 0.25;
  return request(kind, long ? random.between(300, 700) : random.between(32, 160),
                 random.between(16, 96));
}

function open_loop(per_s, seconds) {
  const requests = [];
  for (let at = random.exponential(1000 / per_s); at < seconds * 1000;
       at += random.exponential(1000 / per_s)) {
    requests.push({at_ms: at, ...mixed(judged_classes[0])});
  }
  return requests;
}

const as_class = (requests, name) => requests.map((each) =>
  ({...each, kind: name, headers: {...each.headers, 'x-tidegate-class': name}}));

async function serve() {
  const server = await start_tidegate(
      {config: config(), log: path.join(folder, 'own_engine.log')});
  const load = (name, plan) => run_load(
      {url: `${server.url}/v1/completions`, headers: {}, grace_ms: 120_000, ...plan}, folder, name);
  try {
    const probe = await load('own_engine.probe', {
      requests: Array.from({length: 16},
                           (_, i) => ({at_ms: 300 * i, ...request('probe', 40, 8)}))});
    const learn = await load('own_engine.learn', {
      closed_loop: kSequences,
      requests: Array.from({length: Number(options.learn)}, () => mixed('learn'))});
    const span_ms = Math.max(...learn.map(({end_ms}) => end_ms));
    const per_s = Number(options.load) * learn.length / span_ms * 1000;
    const plan = open_loop(per_s, Number(options.seconds));
    const rounds = [];
    for (const name of judged_classes) {
      rounds.push(await load(`own_engine.${name}`, {requests: as_class(plan, name)}));
    }
    return {probe, rounds, per_s};
  } finally {
    await server.stop();
  }
}

const tpot_ms = (first, last, tokens) => (last - first) / Math.max(1, tokens - 1);

function client_figures(records) {
  const good = records.filter(completed);
  return {
    ttft_ms: good.map(ttft_ms),
    tpot_ms: good.map((record) => tpot_ms(record.token_ms[0], record.token_ms.at(-1),
                                          record.usage.completion_tokens)),
  };
}

const figures_of = (requests, world, before_ms) => ({
  ttft_ms: requests.map((each) => each[world][0] + before_ms),
  tpot_ms: requests.map((each) => tpot_ms(each[world][0], each[world][1], each.tokens)),
});

function simulate(lag_ns, learned) {
  const text = execFileSync(path.join(root, 'build/release/bin/own_engine'), [
    journal, String(kCachedTokens / 16),
    String(lag_ns), learned, judged_classes[0]], {maxBuffer: 1 << 28});
  return JSON.parse(text);
}

const kQuantiles = {p50: 0.5, p90: 0.9, p99: 0.99};

mkdirSync(folder, {recursive: true});
rmSync(journal, {force: true});
const served = await serve();
// Once to learn the lag to the engine, which an idle one answers at once, then with it.
const lag_ns = simulate(0, 'before').accept_lag_ns_p10;
const before = simulate(lag_ns, 'before');
const during = simulate(lag_ns, 'during');
const of_class = (world, name) => world.requests.filter((each) => each.class === name);
// What a caller waits beside the pool and the engine, measured on an idle server.
const front_ms = median(served.probe.map((record, i) =>
  ttft_ms(record) - of_class(before, 'probe')[i].recorded[0]));
const by_round = judged_classes.map((name, i) => ({
  caller: client_figures(served.rounds[i]),
  pool: figures_of(of_class(before, name), 'recorded', front_ms),
  before: figures_of(of_class(before, name), 'simulated', front_ms),
  during: figures_of(of_class(during, name), 'simulated', front_ms),
}));

const rows = [];
const figures = {};
const percent = (value, real) => `${((value / real - 1) * 100).toFixed(1)} %`;
const apart = (simulated, real) => `${rounded(simulated)} (${percent(simulated, real)})`;
for (const metric of ['ttft_ms', 'tpot_ms']) {
  for (const [name, q] of Object.entries(kQuantiles)) {
    const rounds = by_round.map((round) => Object.fromEntries(
        Object.entries(round).map(([world, values]) => [world, quantile(values[metric], q)])));
    const of = Object.fromEntries(Object.keys(rounds[0]).map((world) =>
      [world, median(rounds.map((round) => round[world]))]));
    figures[`${metric}_${name}`] = {...of, rounds};
    const real = rounds.map(({caller}) => caller);
    rows.push([`${metric.slice(0, 4).toUpperCase()} ${name}, ms`, rounded(of.caller),
               rounded(of.pool), apart(of.before, of.caller), apart(of.during, of.caller),
               rounds.length > 1 ? percent(Math.max(...real), Math.min(...real)) : '-']);
  }
}
const sent = served.rounds.flat();
console.log(`${sent.filter(completed).length} of ${sent.length} requests in ${
    by_round.length} rounds at ${rounded(served.per_s)} a second; the law times ${
    before.before} before and ${before.during} during; in front of the pool ${
    rounded(front_ms)} ms; medians over the rounds\n`);
console.log(table(['', 'served, caller', 'served, pool', 'simulated', 'with the law during',
                   'served rounds apart'], rows));
writeFileSync(options.out, JSON.stringify({
  machine: {cpu: os.cpus()[0].model, cores: os.cpus().length}, options, per_s: served.per_s,
  front_ms, lag_ns, correction: {before: before.before, during: before.during}, figures,
}, null, 1));
