// How far each policy is from what was possible at all.
import {at} from '../data.js';
import {percent, words} from '../format.js';
import {figure} from '../plot.js';

const BOUNDS = [['roofline', 'triangle'], ['fluid', 'diamond'], ['interval_lp', 'rect']];

export function bounds(data, choice) {
  const rows = () => at(data, choice.load());
  const computed = () => BOUNDS.filter(([name]) => rows().some((p) => p.bounds[name] != null));
  return figure({
    title: 'Kept promises and the bounds',
    unit: 'share of offered requests, mean over seeds; no policy can get beyond a bound',
    empty: 'No bounds were computed for this report.',
    says: () => rows().map((p) => `${p.policy} kept ${percent(p.attainment_offered.mean)}` +
      (p.tightest_bound ? `, the ${words(p.tightest_bound.name)} bound is ${percent(p.tightest_bound.value)}`
        : '')).join('; ') + '.',
    option: (look) => computed().length === 0 ? null : {
      xAxis: {type: 'value', min: 0, max: 1, axisLabel: {formatter: (v) => Math.round(v * 100) + ' %'}},
      yAxis: {type: 'category', inverse: true, data: rows().map((p) => p.policy), axisTick: {show: false},
              splitLine: {show: false}, axisLabel: {width: 110, overflow: 'truncate', color: look.ink}},
      legend: {data: ['kept', ...computed().map(([name]) => words(name))]},
      tooltip: {valueFormatter: percent, axisPointer: {type: 'shadow'}},
      series: [
        {name: 'kept', type: 'bar', barMaxWidth: 22, color: look.colour(7),
         data: rows().map((p) => ({value: p.attainment_offered.mean,
                                   itemStyle: {color: look.colour(data.indexOf(p.policy))}}))},
        ...computed().map(([name, symbol], i) => ({
          name: words(name), type: 'scatter', symbol, symbolSize: 14, z: 4,
          color: look.colour(i + 4), itemStyle: {borderColor: look.card, borderWidth: 1.5},
          data: rows().flatMap((p, y) => (p.bounds[name] == null ? [] : [[p.bounds[name], y]])),
        })),
      ],
    },
  });
}
