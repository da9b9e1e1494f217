// The distribution of latencies: what share of requests was at least this fast. Lines are policies;
// where there is only one policy and no class is chosen, they are its classes.
import {at, part} from '../data.js';
import {duration, percent} from '../format.js';
import {figure, figures} from '../plot.js';

const KINDS = [
  {key: 'ttft_ms', title: 'Time to first token', promise: 'ttft_ms'},
  {key: 'tpot_ms', title: 'Time per output token', promise: 'tpot_ms'},
  {key: 'e2e_ms', title: 'Request, arrival to end', promise: 'deadline_ms'},
];
const LEAST_MS = 0.01;  // a logarithmic axis has no zero

// Powers of ten as milliseconds and seconds only, so that the steps of the axis show.
const decade = (ms) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

// The next of 1, 2, 5, 10, 20 .. at or beyond v, downwards or upwards.
function step(v, upwards) {
  const power = 10 ** Math.floor(Math.log10(v));
  const steps = [1, 2, 5, 10].map((s) => s * power);
  return upwards ? steps.find((s) => s >= v * 0.999) : steps.findLast((s) => s <= v * 1.001);
}

function linesOf(data, choice, key) {
  const summaries = at(data, choice.load());
  const byClass = data.names.length === 1 && choice.class() === '' && data.classes.length > 1;
  const all = summaries.flatMap((summary) => (byClass
    ? data.classes.map((name, i) => [name, part(summary, name)?.cdf[key], i])
    : [[summary.policy, part(summary, choice.class())?.cdf[key], data.indexOf(summary.policy)]]));
  return all.filter(([, values]) => values != null);
}

function cdf(data, choice, kind) {
  const lines = () => linesOf(data, choice, kind.key);
  const quantile = (values, level) => values[data.levels.findIndex((l) => l >= level)];
  return figure({
    title: kind.title,
    unit: 'share of requests that took at most this long; all seeds',
    empty: 'No request of this class got that far.',
    says: () => lines().map(([name, values]) =>
      `${name}: half within ${duration(quantile(values, 0.5))}, 99 % within ` +
      duration(quantile(values, 0.99))).join('; ') + '.',
    option: (look) => {
      const drawn = lines();
      if (drawn.length === 0) return null;
      const promised = data.promise(choice.class())?.[kind.promise];
      const mark = promised && {
        silent: true, symbol: 'none', data: [{xAxis: promised}],
        lineStyle: {color: look.ink, type: 'solid', width: 1.5},
        label: {formatter: 'promised ' + duration(promised), color: look.ink, position: 'insideEndTop'},
      };
      return {
        xAxis: {type: 'log', min: (range) => step(Math.max(LEAST_MS, range.min), false),
                max: (range) => step(Math.max(range.max, range.min * 2), true),
                axisLabel: {formatter: decade}, minorTick: {show: true}, minorSplitLine: {show: false}},
        yAxis: {type: 'value', min: 0, max: 1, axisLabel: {formatter: (v) => Math.round(v * 100) + ' %'}},
        legend: {data: drawn.map(([name]) => name)},
        tooltip: {trigger: 'item'},
        series: drawn.map(([name, values, i], n) => ({
            name, type: 'line', color: look.colour(i), symbol: look.symbol(i), symbolSize: 7,
            showSymbol: false, showAllSymbol: false, lineStyle: {type: look.pattern(i), width: 2},
            triggerLineEvent: true, markLine: n === 0 ? mark : undefined,
            tooltip: {valueFormatter: percent},
            data: values.map((v, k) => [Math.max(v, LEAST_MS), data.levels[k]]),
        })),
      };
    },
  });
}

export function cdfs(data, choice) {
  return figures(KINDS.map((kind) => cdf(data, choice, kind)));
}
