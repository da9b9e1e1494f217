// Three times as much load as the engine can do: who is refused, how fast, and what the admitted
// get. Usage: see --help.
import {createHash} from 'node:crypto';
import {mkdirSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {bench_model, kNeverEnds} from '../lib/model.mjs';
import {Random} from '../lib/random.mjs';
import {completed, ttft_ms} from '../lib/records.mjs';
import {root, run_load, start_tidegate} from '../lib/servers.mjs';
import {rounded, summary, table} from '../lib/stats.mjs';

const kHelp = `bench/overload.sh [OPTIONS]
  --seconds S      length of the run (60)
  --factor F       offered load over the measured capacity (3)
  --rate R         offered requests/s; the capacity is not measured then, so that runs compare
  --threads N      compute threads (1)
  --policy NAME    who decides (tidegate; tidegate/unpriced is without the shadow price)
  --seed N         of the arrivals and the prompts (1)
  --model FILE     instead of the random 100M model
  --out FILE       the figures as JSON (.cache/bench/overload.json)
`;
const kSequences = 8;
// A wait longer than this without a word is a silent one.
const kSilence_ms = 1000;

// Two tenants: one wants a refusal at once, the other would rather wait. Each sends half of it.
const promises = {
  online: {ttft_ms: 1000, tpot_ms: 100, on_overload: 'reject'},
  patient: {ttft_ms: 8000, tpot_ms: 100, on_overload: 'queue'},
};
const key_of = (name) => `sk-bench-${name}-0123456789abcdef0123456789abcdef`;

function config_text(model, threads, policy) {
  const names = Object.keys(promises);
  const classes = names.map((name) => `{name: ${name}, ttft: ${promises[name].ttft_ms}ms, ` +
      `tpot: ${promises[name].tpot_ms}ms}`);
  const tenants = [...names, 'unhurried'].map((name) => {
    const hash = createHash('sha256').update(key_of(name)).digest('hex');
    const known = promises[name] ? name : 'unhurried';
    return `  - {name: ${name}, keys_sha256: [${hash}], class: ${known}, ` +
        `on_overload: ${promises[name]?.on_overload ?? 'queue'}}`;
  });
  return `
server:  {policy: ${policy}}
engines: [{llama: "${model}", name: bench, threads: ${threads}, max_sequences: ${kSequences},
           kv_tokens: ${kSequences * 2048}, kv_unified: false}]
models:  [{name: bench}]
classes: [${classes.join(', ')}, {name: unhurried, best_effort: true}]
tenants:
${tenants.join('\n')}
`;
}

function request(random, tenant) {
  return {
    kind: tenant, headers: {authorization: `Bearer ${key_of(tenant)}`},
    body: {model: 'bench', prompt: random.words(random.between(32, 256)), temperature: 0,
           max_tokens: random.between(16, 96), stream: true, logit_bias: kNeverEnds,
           stream_options: {include_usage: true}},
  };
}

function arrivals(seed, seconds, per_s) {
  const random = new Random(seed);
  const names = Object.keys(promises);
  const requests = [];
  const gap_ms = 1000 / per_s;
  for (let at = random.exponential(gap_ms); at < seconds * 1000; at += random.exponential(gap_ms)) {
    requests.push({at_ms: at, ...request(random, names[random.between(0, names.length - 1)])});
  }
  return requests;
}

// The longest time in which a waiting caller heard nothing at all; null for one that never waited
// beyond its answer. Once tokens flow the stream itself is the word.
function longest_silence_ms(record) {
  const words = [record.at_ms, ...record.comment_ms, record.token_ms[0] ?? record.end_ms];
  words.sort((a, b) => a - b);
  return Math.max(...words.slice(1).map((at, i) => at - words[i]));
}

const tpot_ms = (record) => (record.token_ms.at(-1) - record.token_ms[0]) /
    Math.max(1, (record.usage?.completion_tokens ?? record.token_ms.length) - 1);

function count_by(records, key) {
  const counts = {};
  for (const record of records) counts[record[key]] = (counts[record[key]] ?? 0) + 1;
  return counts;
}

function of_tenant(name, records) {
  const mine = records.filter(({kind}) => kind === name);
  const refused = mine.filter(({status}) => status && status !== 200);
  const good = mine.filter(completed);
  const kept = good.filter((record) => ttft_ms(record) <= promises[name].ttft_ms &&
      tpot_ms(record) <= promises[name].tpot_ms);
  const latencies = refused.map((record) => record.end_ms - record.at_ms);
  return {
    offered: mine.length, completed: good.length, refused: refused.length,
    ended_in_stream: mine.filter((record) => record.status === 200 && record.error).length,
    no_answer: mine.filter((record) => !record.status || record.unfinished).length,
    refusal_status: count_by(refused, 'status'), refusal_reason: count_by(refused, 'reason'),
    refusal_ms: summary(latencies),
    refused_within_50ms: latencies.filter((ms) => ms <= 50).length / Math.max(1, latencies.length),
    with_hint: refused.filter((record) => Number(record.retry_after_ms) > 0 && record.reason)
        .length / Math.max(1, refused.length),
    retry_after_ms: summary(refused.map((record) => Number(record.retry_after_ms ?? NaN))
        .filter(Number.isFinite)),
    ttft_ms: summary(good.map(ttft_ms)), tpot_ms: summary(good.map(tpot_ms)),
    attainment_admitted: kept.length /
        Math.max(1, mine.filter(({status}) => status === 200).length),
    waited_silently: mine.filter((record) => longest_silence_ms(record) > kSilence_ms).length,
    longest_silence_ms: Math.max(0, ...mine.map(longest_silence_ms)),
  };
}

// Requests/s of callers that always have as many waiting as the engine can run.
async function capacity_of(url, folder, seed) {
  const random = new Random(seed + 1000);
  const always = Array.from({length: 120}, () => request(random, 'unhurried'));
  const full = await run_load(
      {url, headers: {}, closed_loop: kSequences, requests: always, grace_ms: 300_000}, folder,
      'overload.closed');
  return full.filter(completed).length / (Math.max(...full.map(({end_ms}) => end_ms)) / 1000);
}

const {values: options} = parseArgs({options: {
  seconds: {type: 'string', default: '60'}, factor: {type: 'string', default: '3'},
  rate: {type: 'string'}, seed: {type: 'string', default: '1'},
  threads: {type: 'string', default: '1'},
  model: {type: 'string'}, policy: {type: 'string', default: 'tidegate'},
  help: {type: 'boolean', short: 'h'},
  out: {type: 'string', default: path.join(root, '.cache/bench/overload.json')},
}});
if (options.help) {
  console.log(kHelp);
  process.exit(0);
}
const folder = path.dirname(path.resolve(options.out));
mkdirSync(folder, {recursive: true});
const config = path.join(folder, 'overload.yaml');
writeFileSync(config, config_text(bench_model(options.model), options.threads, options.policy));
const server = await start_tidegate({config, log: path.join(folder, 'overload.log')});
const url = `${server.url}/v1/completions`;
const seed = Number(options.seed);

const capacity_rps = options.rate ? null : await capacity_of(url, folder, seed);
if (capacity_rps) console.error(`capacity: ${rounded(capacity_rps)} requests/s`);
const requests = arrivals(seed, Number(options.seconds),
    options.rate ? Number(options.rate) : capacity_rps * Number(options.factor));
const records = await run_load({url, headers: {}, requests, grace_ms: 60_000}, folder,
    'overload.open');
const ended = await server.stop();
const tenants = Object.fromEntries(
    Object.keys(promises).map((name) => [name, of_tenant(name, records)]));
const span_s = Math.max(...records.map(({end_ms}) => end_ms ?? 0)) / 1000;
const served_rps = records.filter(completed).length / span_s;

const rows = [
  ['offered', (t) => t.offered], ['completed', (t) => t.completed], ['refused', (t) => t.refused],
  ['ended in the stream', (t) => t.ended_in_stream], ['without any answer', (t) => t.no_answer],
  ['refusals by status', (t) => JSON.stringify(t.refusal_status)],
  ['refusals by reason', (t) => JSON.stringify(t.refusal_reason)],
  ['refusal p50 / p99 / max, ms', (t) =>
    [t.refusal_ms.p50, t.refusal_ms.p99, t.refusal_ms.max].map(rounded).join(' / ')],
  ['refused within 50 ms', (t) => `${rounded(100 * t.refused_within_50ms)} %`],
  ['refusals with reason and hint', (t) => `${rounded(100 * t.with_hint)} %`],
  ['retry-after p50 / max, ms', (t) =>
    [t.retry_after_ms.p50, t.retry_after_ms.max].map(rounded).join(' / ')],
  ['TTFT p50 / p99, ms', (t) => [t.ttft_ms.p50, t.ttft_ms.p99].map(rounded).join(' / ')],
  ['TPOT p50 / p99, ms', (t) => [t.tpot_ms.p50, t.tpot_ms.p99].map(rounded).join(' / ')],
  ['promise kept, of the admitted', (t) => `${rounded(100 * t.attainment_admitted)} %`],
  [`waited more than ${kSilence_ms} ms without a word`, (t) => t.waited_silently],
  ['longest silence, ms', (t) => rounded(t.longest_silence_ms)],
];
console.log(table(['', ...Object.keys(tenants)], rows.map(
    ([title, of]) => [title, ...Object.values(tenants).map(of)])));
console.log(`\n${capacity_rps ? `capacity ${rounded(capacity_rps)} requests/s, ` : ''}offered ${
    rounded(records.length / Number(options.seconds))}, served ${rounded(served_rps)}`);
writeFileSync(options.out, JSON.stringify({
  machine: {cpu: os.cpus()[0].model, cores: os.cpus().length}, options, promises, capacity_rps,
  served_rps, tenants, ended}, null, 1));
