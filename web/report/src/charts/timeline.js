// One run from beginning to end: what arrived, waited, ran, filled memory and was turned away.
import {clock, count, number, percent, words} from '../format.js';
import {figure, figures} from '../plot.js';

// A line through the middles of the slices.
function line(timeline, name, values, colour, more = {}) {
  const step = timeline.slice_seconds * 1000;
  return {
    name, type: 'line', color: colour, symbol: 'none', lineStyle: {width: 1.8, ...more.lineStyle},
    data: values.map((v, i) => [(i + 0.5) * step, v]),
    ...more.series,
  };
}

function warmup(timeline, look) {
  if (!timeline.counted_from_seconds) return undefined;
  return {
    silent: true, itemStyle: {color: look.soft, opacity: 0.12},
    label: {color: look.soft, position: 'insideTopLeft', fontSize: 11},
    data: [[{name: 'warm-up', xAxis: 0}, {xAxis: timeline.counted_from_seconds * 1000}]],
  };
}

const perSecond = (timeline, values) => values.map((v) => v / timeline.slice_seconds);
const groupLines = (key, fullest) => (timeline, look) => timeline.by_gpu.flatMap((group, i) => [
  line(timeline, group.name, group[key], look.colour(i), {lineStyle: {type: look.pattern(i)}}),
  ...(fullest ? [line(timeline, `${group.name}, fullest`, group[fullest], look.colour(i),
    {lineStyle: {width: 1, type: 'dotted', opacity: 0.8}})] : []),
]);

function shedAreas(timeline, look) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  return Object.entries(timeline.shed).sort(([, a], [, b]) => sum(b) - sum(a))
    .map(([reason, values], i) => line(timeline, words(reason), perSecond(timeline, values), look.colour(i), {
      lineStyle: {width: 0}, series: {stack: 'shed', areaStyle: {opacity: 0.85}},
    }));
}

const any = (values) => values.some((v) => v > 0);
const KINDS = [
  {title: 'Arrivals and completions', unit: 'requests per second', show: number,
   series: (t, look) => [
     line(t, 'arrived', perSecond(t, t.arrivals), look.colour(0)),
     line(t, 'completed', perSecond(t, t.completed), look.colour(2), {lineStyle: {type: 'dashed'}})]},
  {title: 'Queue', unit: 'requests that wait outside the engines', show: number,
   series: (t, look) => [
     line(t, 'mean', t.queued, look.colour(0), {series: {areaStyle: {opacity: 0.15}}}),
     line(t, 'most', t.queued_max, look.colour(1), {lineStyle: {width: 1, type: 'dotted'}})]},
  {title: 'Turned away', unit: 'requests per second by reason, stacked', show: number,
   empty: 'No request was refused in this run.', has: (t) => Object.keys(t.shed).length > 0,
   series: shedAreas},
  {title: 'Preemptions', unit: 'per second', show: number,
   empty: 'Nothing was preempted in this run.', has: (t) => any(t.preemptions),
   series: (t, look) => [line(t, 'preemptions', perSecond(t, t.preemptions), look.colour(4),
     {series: {areaStyle: {opacity: 0.15}}})]},
  {title: 'KV memory in use', unit: 'share of blocks by GPU; dotted: the fullest engine', show: percent,
   share: true, series: groupLines('kv_used', 'kv_used_fullest')},
  {title: 'Requests running', unit: 'by GPU', show: number, series: groupLines('running')},
  {title: 'Engine time in use', unit: 'share by GPU', show: percent, share: true,
   series: groupLines('utilisation')},
  {title: 'Tokens', unit: 'output tokens per second', show: count,
   series: (t, look) => [line(t, 'tokens/s', t.tokens_per_s, look.colour(0))]},
  {title: 'Fairness', unit: 'widest gap in service between waiting tenants, seconds of engine time over weight',
   show: number, empty: 'No two tenants ever waited for the same model.',
   has: (t) => any(t.service_gap_max_s),
   series: (t, look) => [line(t, 'gap', t.service_gap_max_s, look.colour(3))]},
];

function says(kind, timeline, look) {
  const peaks = kind.series(timeline, look).map((s) => {
    const values = s.data.map(([, v]) => v).filter((v) => v != null);
    return values.length === 0 ? '' : `${s.name} up to ${kind.show(Math.max(...values))}`;
  });
  return peaks.filter(Boolean).join('; ') + '.';
}

function plot(kind, getRun) {
  const timeline = () => getRun()?.timeline;
  const blank = {ink: '', soft: '', colour: () => '', pattern: () => 'solid'};
  return figure({
    title: kind.title, unit: kind.unit, empty: kind.empty ?? 'The run has no timeline.', low: true,
    says: () => says(kind, timeline(), blank),
    option: (look) => {
      const t = timeline();
      if (!t || (kind.has && !kind.has(t))) return null;
      const series = kind.series(t, look);
      if (series.length === 0) return null;
      series[0].markArea = warmup(t, look);
      const end = t.arrivals.length * t.slice_seconds * 1000;
      return {
        group: 'timeline',
        xAxis: {type: 'time', min: 0, max: end, splitLine: {show: false},
                axisLabel: {formatter: (ms) => clock(ms / 1000)},
                axisPointer: {label: {formatter: ({value}) => clock(value / 1000)}}},
        yAxis: {type: 'value', min: 0, max: kind.share ? 1 : undefined,
                axisLabel: {formatter: kind.share ? (v) => Math.round(v * 100) + ' %' : kind.show}},
        legend: {data: series.map((s) => s.name)},
        tooltip: {valueFormatter: kind.show,
                  axisPointer: {type: 'line', label: {show: false}}},
        series,
      };
    },
  });
}

export function timelines(getRun) {
  return figures(KINDS.map((kind) => plot(kind, getRun)), 'grid wide');
}
