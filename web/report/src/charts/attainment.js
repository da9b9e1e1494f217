// Kept promises: over load where the report has several, else by class; means with their range
// over seeds.
import {at, part, runsOf, spread} from '../data.js';
import {percent} from '../format.js';
import {figure, whiskers} from '../plot.js';

const share = (name) => (run) => part(run, name)?.attainment_offered;

function over(data, policy, load, name) {
  return spread(runsOf(data, policy, load), share(name));
}

function whole(data) {
  return data.policies.map((p) => `${p.policy}${data.loads.length > 1 ? ` at ${p.load} times` : ''}: ` +
    percent(p.attainment_offered.mean)).join('; ') + '.';
}

const yAxis = {type: 'value', min: 0, max: 1, axisLabel: {formatter: (v) => Math.round(v * 100) + ' %'}};

// What the legend shows for the bound, whose line has no symbols.
const DASHES = 'path://M0,4h7v1.5h-7z M10,4h7v1.5h-7z M20,4h7v1.5h-7z';

// The lowest bound at each load, for all classes together: no policy gets into the area above it.
function bound(data, getClass, look) {
  if (getClass() !== '') return [];
  const points = data.loads.flatMap((load) => {
    const known = at(data, load).flatMap((p) => (p.tightest_bound ? [p.tightest_bound.value] : []));
    return known.length === 0 ? [] : [[load, Math.min(...known)]];
  });
  if (points.length === 0) return [];
  return [{name: 'bound', type: 'line', symbol: 'none', color: look.soft, lineStyle: {width: 1.5, type: 'dashed'},
           areaStyle: {origin: 'end', color: look.soft, opacity: 0.1}, data: points}];
}

function overLoad(data, getClass) {
  return figure({
    title: 'Kept promises over load',
    unit: 'share of offered requests, mean over seeds; whiskers: least and most over seeds; load: multiple of the scenario\'s rate',
    says: () => whole(data),
    option: (look) => ({
      xAxis: {type: 'value', min: data.loads[0], max: data.loads.at(-1), splitLine: {show: false},
              axisTick: {customValues: data.loads}, axisLabel: {formatter: '{value}×', customValues: data.loads}},
      yAxis,
      tooltip: {valueFormatter: percent},
      series: [...bound(data, getClass, look), ...data.names.flatMap((policy, i) => {
        const rows = data.loads.map((load) => [load, over(data, policy, load, getClass())])
          .filter(([, s]) => s != null);
        return [
          {name: policy, type: 'line', color: look.colour(i), symbol: look.symbol(i), symbolSize: 8,
           lineStyle: {type: look.pattern(i), width: 2}, data: rows.map(([load, s]) => [load, s.mean])},
          whiskers(rows.map(([load, s]) => [load, s.low, s.high]), look.colour(i)),
        ];
      })],
      legend: {data: [...data.names, ...bound(data, getClass, look).map(({name}) => ({name, icon: DASHES}))]},
    }),
  });
}

function byClass(data) {
  const load = data.loads[0];
  const names = ['', ...data.classes];
  const layout = {count: data.names.length, barMaxWidth: 46, barGap: '12%', barCategoryGap: '24%'};
  return figure({
    title: 'Kept promises by class', low: data.names.length === 1,
    unit: 'share of offered requests, mean over seeds; whiskers: least and most over seeds',
    says: () => whole(data),
    option: (look) => ({
      xAxis: {type: 'category', data: names.map((n) => n || 'all'), axisTick: {show: false}},
      yAxis,
      legend: {data: data.names},
      tooltip: {valueFormatter: percent, axisPointer: {type: 'shadow'}},
      series: data.names.flatMap((policy, i) => {
        const rows = names.map((name) => over(data, policy, load, name));
        const few = data.names.length * names.length <= 16;
        return [
          {name: policy, type: 'bar', color: look.colour(i), ...layout,
           data: rows.map((s) => s?.mean),
           label: {show: few, position: 'insideBottom', color: look.card, distance: 6, fontSize: 12,
                   formatter: ({value}) => (value > 0.12 ? percent(value).replace(' %', '') : '')}},
          whiskers(rows.flatMap((s, x) => (s && s.high > s.low ? [[x, s.low, s.high]] : [])), look.ink,
            (api) => api.barLayout(layout)[i].offsetCenter),
        ];
      }),
    }),
  });
}

export function attainment(data, getClass) {
  if (at(data, data.loads[0]).length === 0) return null;
  return data.loads.length > 1 ? overLoad(data, getClass) : byClass(data);
}
