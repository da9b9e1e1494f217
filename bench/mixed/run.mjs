// Mixed load, side by side. Usage: see --help.
import {mkdirSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {bench_model} from '../lib/model.mjs';
import {root, run_load, start_llama_server, start_tidegate} from '../lib/servers.mjs';
import {median, rounded, table} from '../lib/stats.mjs';
import {measure} from '../lib/records.mjs';
import {kShortPerLong, schedule, sequence} from './workload.mjs';

const kHelp = `bench/mixed.sh [OPTIONS]
  --seconds S        length of one run (60)
  --repetitions N    runs of each server, taking turns (3)
  --load F           offered load as a share of llama-server's capacity (0.8)
  --long-every-ms T  time between long prompts; default: from --load and a measured capacity
  --threads N        compute threads of both servers (1)
  --seed N           of the schedule and the prompts (1)
  --model FILE       instead of the random 100M model
  --peers A,B        settings of llama-server to compare with (all): ${'PEERS'}
  --only NAME        run one server alone: tidegate or the name of a peer
  --out FILE         the figures as JSON (.cache/bench/mixed.json)
`;

const kSequences = 8;
const kContext = 4096;  // of one sequence

// llama-server as it comes, and with smaller batches, which trade throughput for shorter stalls.
// Each has the same number of slots and as much KV memory as the gateway.
const peers = {
  default: [],
  b512: ['-b', '512', '-ub', '512'],
  b256: ['-b', '256', '-ub', '256'],
  b128: ['-b', '128', '-ub', '128'],
  b64: ['-b', '64', '-ub', '64'],
};

const {values: options} = parseArgs({options: {
  seconds: {type: 'string', default: '60'}, repetitions: {type: 'string', default: '3'},
  load: {type: 'string', default: '0.8'}, 'long-every-ms': {type: 'string'},
  threads: {type: 'string', default: '1'}, seed: {type: 'string', default: '1'},
  model: {type: 'string'}, peers: {type: 'string', default: Object.keys(peers).join(',')},
  only: {type: 'string'}, help: {type: 'boolean', short: 'h'},
  out: {type: 'string', default: path.join(root, '.cache/bench/mixed.json')},
}});
if (options.help) {
  console.log(kHelp.replace('PEERS', Object.keys(peers).join(', ')));
  process.exit(0);
}
const folder = path.dirname(path.resolve(options.out));
mkdirSync(folder, {recursive: true});
const model = bench_model(options.model);
const seed = Number(options.seed);

function tidegate_config() {
  const file = path.join(folder, 'mixed.yaml');
  writeFileSync(file, `
engines: [{llama: "${model}", name: bench, threads: ${options.threads},
           max_sequences: ${kSequences}, kv_tokens: ${kSequences * kContext}}]
models:  [{name: bench}]
classes: [{name: short, ttft: 500ms, tpot: 60ms}, {name: long, ttft: 30s, tpot: 200ms}]
tenants: [{name: bench, class: short, classes: ["*"], on_overload: queue}]
`);
  return file;
}

function start(name, log) {
  if (name === 'tidegate') return start_tidegate({config: tidegate_config(), log});
  return start_llama_server({
    binary: process.env.LLAMA_SERVER, model, log,
    options: ['--threads', options.threads, '--parallel', String(kSequences),
              '--ctx-size', String(kSequences * kContext), '--alias', 'bench', ...peers[name]],
  });
}

async function run(name, label, plan) {
  const server = await start(name, path.join(folder, `${name}.${label}.log`));
  try {
    const records = await run_load(
        {url: `${server.url}/v1/completions`, headers: {}, grace_ms: 60_000, ...plan}, folder,
        `${name}.${label}`);
    return measure(records);
  } finally {
    await server.stop();
  }
}

// How often a long prompt with its short ones can be served when there is always work.
async function capacity(name) {
  const groups = 4;
  const requests = sequence(seed + 1000, groups);
  const start_ms = performance.now();
  const figures = await run(name, 'closed', {closed_loop: kSequences, requests, grace_ms: 600_000});
  return {...figures, ms_per_group: (performance.now() - start_ms) / groups};
}

function row(name, runs) {
  const of = (key) => rounded(median(runs.map((figures) => figures[key])));
  return [name, of('short_ttft_p50_ms'), of('short_ttft_p99_ms'), of('gap_p99_ms'),
          of('gap_max_ms'), of('long_ttft_p50_ms'), of('tokens_per_s'),
          `${of('completed')}/${of('requests')}`];
}

function print_table(runs, names) {
  const mid = (name, key) => median(runs[name].map((figures) => figures[key]));
  console.log(table(
      ['server', 'short TTFT p50, ms', 'short TTFT p99, ms', 'gap p99, ms', 'gap max, ms',
       'long TTFT p50, ms', 'tokens/s', 'completed'], names.map((name) => row(name, runs[name]))));
  if (!runs.tidegate) return;
  console.log();
  console.log(table(['tidegate against', 'TTFT p99', 'gap max', 'tokens/s'],
      names.filter((name) => name !== 'tidegate').map((name) => [
        name, `${rounded(mid(name, 'short_ttft_p99_ms') / mid('tidegate', 'short_ttft_p99_ms'))}x`,
        `${rounded(mid(name, 'gap_max_ms') / mid('tidegate', 'gap_max_ms'))}x`,
        rounded(mid('tidegate', 'tokens_per_s') / mid(name, 'tokens_per_s'))])));
}

const names = options.only ? [options.only] : ['tidegate', ...options.peers.split(',')];
const closed = {};
let long_every_ms = Number(options['long-every-ms'] ?? 0);
for (const name of options['long-every-ms'] ? [] : names) {
  closed[name] = await capacity(name);
  console.error(`${name}: at most ${rounded(closed[name].tokens_per_s)} tokens/s`);
}
if (!long_every_ms) {
  const reference = Object.keys(closed).filter((name) => name !== 'tidegate' || options.only);
  const best = Math.min(...reference.map((name) => closed[name].ms_per_group));
  long_every_ms = Math.round(best / Number(options.load));
}
console.error(`a long prompt every ${long_every_ms} ms, a short request every ${
    rounded(long_every_ms / kShortPerLong)} ms`);
const runs = Object.fromEntries(names.map((name) => [name, []]));
for (let repetition = 0; repetition < Number(options.repetitions); ++repetition) {
  const requests = schedule(seed + repetition, Number(options.seconds), long_every_ms);
  for (const name of names) {
    const figures = await run(name, `open${repetition}`, {requests});
    runs[name].push(figures);
    console.error(`${name} ${repetition + 1}: ${JSON.stringify(figures)}`);
  }
}
print_table(runs, names);
writeFileSync(options.out, JSON.stringify({
  machine: {cpu: os.cpus()[0].model, cores: os.cpus().length}, model: path.basename(model),
  options: {...options, long_every_ms}, peers, closed, runs}, null, 1));
