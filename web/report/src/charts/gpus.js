// How much of each group of GPUs a policy used: engine time and KV memory, over the part of the
// runs that counts.
import {meanOverTime, runsOf, spread} from '../data.js';
import {percent} from '../format.js';
import {figure, figures, whiskers} from '../plot.js';

const KINDS = [
  {title: 'Engine time in use by GPU', key: 'utilisation'},
  {title: 'KV memory in use by GPU', key: 'kv_used'},
];

function use(data, policy, load, name, key) {
  return spread(runsOf(data, policy, load), (run) => {
    const group = run.timeline?.by_gpu.find((g) => g.name === name);
    return group && meanOverTime(run.timeline, group[key]);
  });
}

function bars(data, choice, kind) {
  const layout = {count: data.names.length, barMaxWidth: 46, barGap: '12%', barCategoryGap: '24%'};
  const of = (policy, group) => use(data, policy, choice.load(), group, kind.key);
  return figure({
    title: kind.title,
    unit: 'mean share after the warm-up; whiskers: least and most over seeds',
    empty: 'The runs have no timeline.',
    says: () => data.names.map((policy) => policy + ': ' + data.groups.map((group) =>
      `${group} ${percent(of(policy, group)?.mean)}`).join(', ')).join('; ') + '.',
    option: (look) => data.groups.length === 0 ? null : {
      xAxis: {type: 'category', data: data.groups, axisTick: {show: false}},
      yAxis: {type: 'value', min: 0, max: 1, axisLabel: {formatter: (v) => Math.round(v * 100) + ' %'}},
      legend: {data: data.names},
      tooltip: {valueFormatter: percent, axisPointer: {type: 'shadow'}},
      series: data.names.flatMap((policy, i) => {
        const rows = data.groups.map((group) => of(policy, group));
        return [
          {name: policy, type: 'bar', color: look.colour(i), ...layout, data: rows.map((s) => s?.mean)},
          whiskers(rows.flatMap((s, x) => (s && s.high > s.low ? [[x, s.low, s.high]] : [])), look.ink,
            (api) => api.barLayout(layout)[i].offsetCenter),
        ];
      }),
    },
  });
}

export function gpus(data, choice) {
  return figures(KINDS.map((kind) => bars(data, choice, kind)), 'grid wide');
}
