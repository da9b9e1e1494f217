// Mixed load, side by side. Usage: see --help.
import {mkdirSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {bench_model} from '../lib/model.mjs';
import {measure} from '../lib/records.mjs';
import {root, run_load} from '../lib/servers.mjs';
import {median, rounded, table} from '../lib/stats.mjs';
import {kSequences, peers, start} from './targets.mjs';
import {kShortPerLong, schedule, sequence} from './workload.mjs';

const kHelp = `bench/mixed.sh [OPTIONS]
First every server works through a fixed list as fast as it can (closed loop). Then each setting of
llama-server gets the same arrivals once. Last, the gateway, llama-server as it comes and its best
setting take turns. Best: the least (TTFT p99 of the short ones x largest gap) among the settings
with at least 0.95 of the most tokens/s that any setting reached in the closed loop.
  --seconds S        length of one run (60)
  --repetitions N    turns of each server (3)
  --load F           offered load as a share of llama-server's capacity (0.75)
  --threads N        compute threads of all servers (1)
  --seed N           of the arrivals and the prompts (1)
  --model FILE       instead of the random 100M model
  --peers A,B        settings to try: ${Object.keys(peers).join(', ')}
  --tidegate-only    no llama-server; then --long-every-ms is needed
  --long-every-ms T  time between long prompts, instead of --load
  --out FILE         the figures as JSON (.cache/bench/mixed.json)
`;
const {values: options} = parseArgs({options: {
  seconds: {type: 'string', default: '60'}, repetitions: {type: 'string', default: '3'},
  load: {type: 'string', default: '0.75'}, 'long-every-ms': {type: 'string'},
  threads: {type: 'string', default: '1'}, seed: {type: 'string', default: '1'},
  model: {type: 'string'}, peers: {type: 'string', default: Object.keys(peers).join(',')},
  'tidegate-only': {type: 'boolean'}, help: {type: 'boolean', short: 'h'},
  out: {type: 'string', default: path.join(root, '.cache/bench/mixed.json')},
}});
if (options.help) {
  console.log(kHelp);
  process.exit(0);
}
const folder = path.dirname(path.resolve(options.out));
mkdirSync(folder, {recursive: true});
const seed = Number(options.seed);
const tried = options['tidegate-only'] ? [] : options.peers.split(',');
const setting = {model: bench_model(options.model), threads: options.threads};

async function run(name, label, plan) {
  const server = await start(name, folder, label, setting);
  try {
    return measure(await run_load(
        {url: `${server.url}/v1/completions`, headers: {}, grace_ms: 120_000, ...plan}, folder,
        `${name}.${label}`));
  } finally {
    await server.stop();
  }
}

// The most that a server does when there is always work, and how long one long prompt with its
// short ones takes then.
async function capacity(name) {
  const groups = 3;
  const requests = sequence(seed + 1000, groups);
  const figures = await run(name, 'closed', {closed_loop: kSequences, requests, grace_ms: 600_000});
  console.error(`${name}: ${rounded(figures.tokens_per_s)} tokens/s in the closed loop`);
  return {...figures, ms_per_group: figures.span_s * 1000 / groups};
}

async function open_loop(name, turn, long_every_ms) {
  const requests = schedule(seed + turn, Number(options.seconds), long_every_ms);
  const figures = await run(name, `open${turn}`, {requests});
  console.error(`${name}, turn ${turn}: ${JSON.stringify(figures)}`);
  return figures;
}

// See kHelp.
function best_peer(closed, scan) {
  const most = Math.max(...tried.map((name) => closed[name].tokens_per_s));
  const worth = (name) => scan[name].short_ttft_p99_ms * scan[name].gap_max_ms;
  return tried.filter((name) => closed[name].tokens_per_s >= 0.95 * most)
      .sort((a, b) => worth(a) - worth(b))[0];
}

const kColumns = {
  'short TTFT p50, ms': 'short_ttft_p50_ms', 'short TTFT p99, ms': 'short_ttft_p99_ms',
  'gap p99, ms': 'gap_p99_ms', 'gap max, ms': 'gap_max_ms', 'long TTFT p50, ms': 'long_ttft_p50_ms',
  'tokens/s': 'tokens_per_s', 'completed': 'completed', 'offered': 'requests',
};
const mid = (runs, key) => median(runs.map((figures) => figures[key]));

function figures_table(runs_of, closed) {
  return table(['server', ...Object.keys(kColumns), 'tokens/s, closed loop'],
      Object.entries(runs_of).map(([name, runs]) => [
        name, ...Object.values(kColumns).map((key) => rounded(mid(runs, key))),
        rounded(closed[name]?.tokens_per_s)]));
}

function ratio_table(runs_of, closed) {
  const better = (name, key) =>
    `${rounded(mid(runs_of[name], key) / mid(runs_of.tidegate, key))} x`;
  const head = ['tidegate against', 'short TTFT p99', 'gap max', 'tokens/s', 'closed loop'];
  return table(head,
      Object.keys(runs_of).filter((name) => name !== 'tidegate').map((name) => [
        name, better(name, 'short_ttft_p99_ms'), better(name, 'gap_max_ms'),
        rounded(mid(runs_of.tidegate, 'tokens_per_s') / mid(runs_of[name], 'tokens_per_s')),
        rounded(closed.tidegate.tokens_per_s / closed[name].tokens_per_s)]));
}

const closed = {};
for (const name of ['tidegate', ...tried]) closed[name] = await capacity(name);
const long_every_ms = Number(options['long-every-ms'] ??
    Math.round(Math.min(...tried.map((name) => closed[name].ms_per_group)) / Number(options.load)));
console.error(`a long prompt every ${long_every_ms} ms, a short request every ${
    rounded(long_every_ms / kShortPerLong)} ms`);
const scan = {};
for (const name of tried) scan[name] = await open_loop(name, 0, long_every_ms);
const best = best_peer(closed, scan);
const runs = Object.fromEntries([...new Set(['tidegate', ...tried.slice(0, 1), best])]
    .filter(Boolean).map((name) => [name, []]));
for (let turn = 1; turn <= Number(options.repetitions); ++turn) {
  for (const name of Object.keys(runs)) {
    runs[name].push(await open_loop(name, turn, long_every_ms));
  }
}
if (tried.length > 0) {
  console.log('Settings of llama-server, one run each:\n');
  console.log(figures_table(Object.fromEntries(tried.map((name) => [name, [scan[name]]])), closed));
  console.log(`\nBest setting: ${best}.`);
}
console.log(`\nMedian of ${options.repetitions} runs each, taking turns:\n`);
console.log(figures_table(runs, closed));
if (tried.length > 0) console.log(`\n${ratio_table(runs, closed)}`);
writeFileSync(options.out, JSON.stringify({
  machine: {cpu: os.cpus()[0].model, cores: os.cpus().length},
  model: path.basename(setting.model), options, long_every_ms, peers, closed, scan, best, runs,
}, null, 1));
