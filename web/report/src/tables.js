// The numbers behind the plots.
import {label, part, shedTotal} from './data.js';
import {el, table} from './dom.js';
import {count, duration, number, percent, points, words} from './format.js';

// A quantile of a latency; nothing where no request has one.
export function quantile(totals, key, level) {
  return duration(totals.completed || totals[key].max ? totals[key][level] : null);
}

const q = (key, level) => (row) => quantile(row.totals, key, level);

const LATENCIES = [
  ['TTFT p50', q('ttft_ms', 'p50')], ['p99', q('ttft_ms', 'p99')],
  ['TPOT p50', q('tpot_ms', 'p50')], ['p99', q('tpot_ms', 'p99')],
  ['Request p50', q('e2e_ms', 'p50')], ['p99', q('e2e_ms', 'p99')],
];
const COUNTS = [
  ['Tokens/s', (row) => number(row.totals.tokens_per_s)],
  ['Goodput/s', (row) => number(row.totals.goodput_rps)],
  ['Refused', (row) => count(shedTotal(row.totals))],
  ['Failed', (row) => count(row.totals.failed)],
  ['Unfinished', (row) => count(row.totals.residue)],
];

function kept(row) {
  const {low, high} = row.range ?? {};
  const text = percent(row.totals.attainment_offered);
  if (low == null || low === high) return text;
  return el('span', {}, text, el('small', {}, ` ${percent(low).replace(' %', '')} to ${percent(high).replace(' %', '')}`));
}

export function summaryTable(data, policies) {
  const rows = policies.flatMap((p) => [
    {name: label(p, data), totals: p.totals, kind: 'all', range: p.attainment_offered},
    ...data.classes.filter((c) => part(p, c)).map((c) => ({name: c, totals: part(p, c), kind: 'part'})),
  ]);
  return table('Policies and their classes, all seeds together', [
    ['Policy, class', (row) => row.name],
    ['Offered', (row) => count(row.totals.offered)],
    ['Kept', kept],
    ['Of admitted', (row) => percent(row.totals.attainment_admitted)],
    ...LATENCIES, ...COUNTS,
    ['Preemptions', (row) => (row.kind === 'all' ? count(row.totals.preemptions) : '')],
  ], rows, (row) => row.kind);
}

export function shedTable(data, policies) {
  const reasons = [...new Set(policies.flatMap((p) => Object.keys(p.totals.rejected)))];
  if (reasons.length === 0) return null;
  return table('Requests refused, by reason', [
    ['Policy', (p) => label(p, data)],
    ...reasons.map((reason) => [words(reason), (p) => count(p.totals.rejected[reason] ?? 0)]),
    ['All', (p) => count(shedTotal(p.totals))],
    ['Of offered', (p) => percent(p.totals.offered ? shedTotal(p.totals) / p.totals.offered : 0)],
  ], policies);
}

export function boundsTable(data, policies) {
  if (!policies.some((p) => p.tightest_bound)) return null;
  return table('Bounds on kept promises, means over seeds', [
    ['Policy', (p) => label(p, data)],
    ['Kept', (p) => percent(p.attainment_offered.mean)],
    ['Roofline', (p) => percent(p.bounds.roofline)],
    ['Fluid', (p) => percent(p.bounds.fluid)],
    ['Interval LP', (p) => percent(p.bounds.interval_lp)],
    ['To the tightest', (p) => points(p.tightest_bound && p.tightest_bound.value - p.attainment_offered.mean)],
    ['Speed to attain it', (p) => (p.speed_factor == null ? number(null) : number(p.speed_factor) + '×')],
  ], policies);
}

// Tenants, models or GPUs of one policy; those that fared worst first.
export function groupTable(caption, rows) {
  const sorted = [...rows].filter((row) => row.offered > 0)
    .sort((a, b) => a.attainment_offered - b.attainment_offered || b.offered - a.offered);
  if (sorted.length === 0) return null;
  return table(caption, [
    ['Name', (row) => row.name],
    ['Offered', (row) => count(row.totals.offered)],
    ['Kept', (row) => percent(row.totals.attainment_offered)],
    ['Of admitted', (row) => percent(row.totals.attainment_admitted)],
    ...LATENCIES, ...COUNTS,
  ], sorted.map((totals) => ({name: totals.name, totals})));
}

export function runsTable(data) {
  const overcommits = (run) => (run.kv.overcommits === 0 ? '0'
    : el('span', {class: 'bad'}, count(run.kv.overcommits)));
  return table('Runs: the same scenario, policy and seed give the same digest', [
    ['Policy', (run) => label(run, data)],
    ['Seed', (run) => String(run.seed)],
    ['Digest', (run) => el('code', {}, run.digest)],
    ['Kept', (run) => percent(run.totals.attainment_offered)],
    ['Simulated', (run) => duration(run.simulated_seconds * 1000)],
    ['Wall time', (run) => duration(run.wall_seconds * 1000)],
    ['Engine steps', (run) => count(run.engine_steps)],
    ['Decisions', (run) => count(run.decisions)],
    ['p99 each', (run) => (run.decision_ns.p99 ? number(run.decision_ns.p99 / 1000) + ' µs' : '–')],
    ['Engines busy', (run) => percent(run.utilisation)],
    ['KV peak', (run) => `${count(run.kv.peak_blocks)} of ${count(run.kv.capacity_blocks)}`],
    ['KV overcommits', overcommits],
    ['Widest service gap', (run) => duration(run.fairness.max_service_gap == null ? null
      : run.fairness.max_service_gap * 1000)],
  ], data.report.runs);
}
