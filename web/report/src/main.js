import './style.css';

import {attainment} from './charts/attainment.js';
import {bounds} from './charts/bounds.js';
import {cdfs} from './charts/cdf.js';
import {gpus} from './charts/gpus.js';
import {timelines} from './charts/timeline.js';
import {at, label, readData, runsOf, shedTotal} from './data.js';
import {choice, el, section} from './dom.js';
import {count, duration, number, percent, points, words} from './format.js';
import {look} from './plot.js';
import {boundsTable, groupTable, quantile, runsTable, shedTable, summaryTable} from './tables.js';

const data = readData(document.getElementById('data').textContent);
const state = {load: data.loads.includes(1) ? 1 : data.loads[0], class: '', policy: data.names[0], seed: null};
const chosen = {load: () => state.load, class: () => state.class};

function plural(n, one) {
  return `${count(n)} ${one}${n === 1 ? '' : one.endsWith('y') ? '' : 's'}`;
}

function header() {
  const {report} = data;
  const seeds = new Set(report.runs.map((r) => r.seed)).size;
  const facts = [
    data.names.length === 1 ? '1 policy' : `${data.names.length} policies`,
    plural(seeds, 'seed'),
    data.loads.length > 1 ? plural(data.loads.length, 'load') : null,
    report.runs[0] ? duration(report.runs[0].simulated_seconds * 1000) + ' of simulated time each' : null,
    'tidegate ' + report.tidegate_version,
  ].filter(Boolean);
  const links = [['overview', 'Overview'], ['kept', 'Kept promises'], ['latency', 'Latency'], ['time', 'Over time'],
                 ['gpus', 'GPUs'], ['bounds', 'Bounds'], ['parts', 'Tenants and models'], ['runs', 'Runs']];
  return el('header', {}, el('h1', {}, report.scenario || 'Report'), el('p', {class: 'facts'}, facts.join(' · ')),
    el('nav', {'aria-label': 'Sections'}, links.map(([id, text]) => el('a', {href: '#' + id}, text))));
}

// A bar of the share that was kept, with a tick where the tightest bound is.
function gauge(summary, colour) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('viewBox', '0 0 100 12');
  const bar = (x, y, width, height, fill) => {
    const rect = document.createElementNS(svg.namespaceURI, 'rect');
    for (const [name, value] of Object.entries({x, y, width, height, style: 'fill:' + fill})) {
      rect.setAttribute(name, value);
    }
    svg.append(rect);
  };
  bar(0, 2, 100, 8, 'var(--line)');
  bar(0, 2, summary.attainment_offered.mean * 100, 8, colour);
  if (summary.tightest_bound) bar(Math.min(summary.tightest_bound.value * 100, 99.2), 0, 0.8, 12, 'var(--ink)');
  return svg;
}

function card(summary) {
  const {mean, low, high} = summary.attainment_offered;
  const bound = summary.tightest_bound;
  return el('article', {class: 'card', style: `--mark:${look().colour(data.indexOf(summary.policy))}`},
    el('h3', {}, label(summary, data)),
    el('div', {class: 'big'}, percent(mean)),
    el('p', {}, 'of offered promises kept' + (high > low ? `, ${percent(low)} to ${percent(high)} over seeds` : '')),
    gauge(summary, 'var(--mark)'),
    el('p', {}, bound ? `${points(bound.value - mean)} from the ${words(bound.name)} bound` : 'no bound computed'),
    el('dl', {}, headlines(summary).map(([term, text]) => el('div', {}, el('dt', {}, term), el('dd', {}, text)))));
}

function headlines({totals, by_class}) {
  return [
    ['of admitted', percent(totals.attainment_admitted)],
    ['refused', percent(totals.offered ? shedTotal(totals) / totals.offered : 0)],
    ['TTFT p99', quantile(totals, 'ttft_ms', 'p99')],
    ['TPOT p99', quantile(totals, 'tpot_ms', 'p99')],
    ['tokens/s', number(totals.tokens_per_s)],
    ...(by_class.length > 1 ? by_class.map((c) => [`kept, ${c.name}`, percent(c.attainment_offered)]) : []),
  ];
}

const cards = el('div', {class: 'cards'});
const numbers = el('div', {});
const boundsNumbers = el('div', {});
const parts = el('div', {});
const redraws = [];

function onlyIf(condition, make) {
  return condition ? make() : null;
}

// A section whose figures draw themselves again when a choice changes.
function plotted(id, title, lead, drawn, ...more) {
  redraws.push(drawn.redraw);
  return section(id, title, lead, ...more, drawn.element);
}

const loadChoice = () => onlyIf(data.loads.length > 1, () => choice('Load', data.loads.map((l) => [l, l + '×']), (v) => {
  state.load = Number(v);
  syncLoads();
  refresh();
}));
const classChoice = () => onlyIf(data.classes.length > 0, () => choice('Class',
  [['', 'all'], ...data.classes.map((c) => [c, c])], (v) => { state.class = v; refresh(); }));

function syncLoads() {
  for (const select of document.querySelectorAll('.choice select[data-load]')) select.value = state.load;
}

function choices(...list) {
  const shown = list.filter(Boolean);
  return shown.length === 0 ? null : el('div', {class: 'choices'}, shown);
}

function marked(made) {
  made?.querySelector('select').setAttribute('data-load', '');
  return made;
}

function currentRun() {
  const runs = runsOf(data, state.policy, state.load);
  return runs.find((r) => r.seed === state.seed) ?? runs[0];
}

const policyOptions = data.names.map((name) => [name, name]);
const seeds = [...new Set(data.report.runs.map((r) => r.seed))];

function timeSection() {
  const policy = choice('Policy', policyOptions, (v) => { state.policy = v; refresh(); });
  const seed = onlyIf(seeds.length > 1, () => choice('Seed', seeds.map((s) => [s, String(s)]),
    (v) => { state.seed = Number(v); refresh(); }));
  return plotted('time', 'Over time', 'One run from beginning to end. Requests that arrive in the shaded warm-up are not counted in the tables.',
    timelines(currentRun), choices(policy, seed, marked(loadChoice())));
}

function partsSection() {
  const policy = choice('Policy', policyOptions, (v) => { state.parts = v; refresh(); });
  return section('parts', 'Tenants, models and GPUs', 'Those that fared worst come first.', choices(policy, marked(loadChoice())), parts);
}

function fillParts() {
  const shown = at(data, state.load).find((p) => p.policy === (state.parts ?? data.names[0]));
  if (!shown) return parts.replaceChildren();
  const open = [...parts.querySelectorAll('details')].map((d) => d.open);
  const group = (title, rows, i) => {
    const made = groupTable(`${title}, ${label(shown, data)}`, rows);
    return made && el('details', {open: open[i] ?? rows.length <= 20}, el('summary', {}, `${title} (${rows.length})`), made);
  };
  parts.replaceChildren(...[group('Tenants', shown.by_tenant, 0), group('Models', shown.by_model, 1),
                            group('GPUs', shown.by_gpu, 2)].filter(Boolean));
}

const TERMS = [
  ['Kept', 'the request completed within the run and every token came by its due time; best effort: it completed'],
  ['Of admitted', 'the same, of the requests that were let in'],
  ['TTFT, TPOT', 'time to first token; time per output token after the first'],
  ['Goodput', 'requests a second whose promise was kept'],
  ['Unfinished', 'still waiting or running when the run ended; they count as missed'],
  ['Roofline', 'the most promises that fit into the engine seconds of the whole run'],
  ['Fluid', 'as roofline, with everything that is kept fitting into the time until it is due'],
  ['Interval LP', 'the most promises that fit, with all arrivals known beforehand'],
  ['Speed to attain it', 'how many times as fast the hardware would have to be for the policy to attain the tightest bound'],
];

function fill(holder, ...elements) {
  holder.replaceChildren(...elements.filter(Boolean));
}

function refresh() {
  cards.replaceChildren(...at(data, state.load).map(card));
  const policies = at(data, state.load);
  fill(numbers, summaryTable(data, policies), shedTable(data, policies));
  fill(boundsNumbers, boundsTable(data, policies));
  fillParts();
  for (const redraw of redraws) redraw();
}

function start() {
  document.title = `${data.report.scenario || 'Report'} · Tidegate`;
  const app = document.getElementById('app');
  if (data.policies.length === 0) {
    app.append(header(), el('main', {}, el('p', {class: 'nothing'}, 'The report has no runs.')));
    return;
  }
  const kept = attainment(data, chosen.class);
  app.append(header(), el('main', {},
    section('overview', 'Overview', null, choices(marked(loadChoice())), cards),
    section('table', 'Summary', null, choices(marked(loadChoice())), numbers),
    plotted('kept', 'Kept promises', null, kept, onlyIf(data.loads.length > 1, () => choices(classChoice()))),
    plotted('latency', 'Latency', 'The further left and the steeper, the better. The promise of the class is marked where there is one.',
      cdfs(data, chosen), choices(classChoice(), marked(loadChoice()))),
    timeSection(),
    plotted('gpus', 'GPUs', null, gpus(data, chosen), choices(marked(loadChoice()))),
    plotted('bounds', 'Bounds', 'What was possible at all for these arrivals, and how far each policy is from it.',
      bounds(data, chosen)),
    boundsNumbers,
    partsSection(),
    section('runs', 'Runs', null, runsTable(data))),
  el('footer', {}, el('h2', {}, 'Terms'), el('dl', {}, TERMS.map(([term, text]) => [el('dt', {}, term), el('dd', {}, text)]))));
  syncLoads();
  refresh();
}

start();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
