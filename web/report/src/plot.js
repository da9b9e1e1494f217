// One place for how plots look and live: they follow the page's colours, its size and each other.
import {BarChart, CustomChart, LineChart, ScatterChart} from 'echarts/charts';
import {GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent,
        TooltipComponent} from 'echarts/components';
import * as echarts from 'echarts/core';
import {SVGRenderer} from 'echarts/renderers';

import {el} from './dom.js';

echarts.use([BarChart, CustomChart, LineChart, ScatterChart, GridComponent,
             LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, SVGRenderer]);

// Hues after Okabe and Ito, told apart with every common colour blindness; each has its own line
// pattern and symbol too, so that nothing depends on colour.
const LIGHT = ['#0b5fcc', '#c4560a', '#007f5c', '#9a3db0', '#7a6200', '#0a7f9e', '#b82a5a', '#566370'];
const DARK = ['#77b2ff', '#ff9f55', '#45d3a3', '#d795f2', '#e2c44f', '#54cfea', '#ff8fb3', '#aebac6'];
const PATTERNS = ['solid', 'dashed', 'dotted', [10, 3, 2, 3], [14, 4], [2, 6], [6, 2, 2, 2, 2, 2], [4, 8]];
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'pin', 'arrow', 'emptyCircle'];

const dark = matchMedia('(prefers-color-scheme: dark)');

export function look() {
  const css = getComputedStyle(document.documentElement);
  const of = (name) => css.getPropertyValue(name).trim();
  const palette = dark.matches ? DARK : LIGHT;
  return {
    ink: of('--ink'), soft: of('--soft'), line: of('--line'), card: of('--card'),
    colour: (i) => palette[i % palette.length],
    pattern: (i) => PATTERNS[i % PATTERNS.length],
    symbol: (i) => SYMBOLS[i % SYMBOLS.length],
  };
}

const plots = [];  // {holder, chart, option}

function draw(plot) {
  const style = look();
  const {group, ...option} = plot.option(style);
  const axis = (given) => ({
    axisLine: {lineStyle: {color: style.line}},
    axisTick: {lineStyle: {color: style.line}},
    splitLine: {lineStyle: {color: style.line}},
    nameTextStyle: {color: style.soft},
    ...given,
    axisLabel: {color: style.soft, hideOverlap: true, ...given.axisLabel},
  });
  plot.chart ??= echarts.init(plot.holder, null, {renderer: 'svg'});
  plot.chart.setOption({
    animation: false,
    useUTC: true,
    textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
    grid: {left: 8, right: 16, top: (option.legend?.data?.length ?? 2) > 1 ? 36 : 14, bottom: 8,
           containLabel: true},
    ...option,
    legend: {type: 'scroll', show: (option.legend?.data?.length ?? 2) > 1, top: 0, left: 0, itemWidth: 28, textStyle: {color: style.ink},
             pageTextStyle: {color: style.soft}, pageIconColor: style.ink,
             pageIconInactiveColor: style.line, ...option.legend},
    tooltip: {trigger: 'axis', confine: true, backgroundColor: style.card, borderColor: style.line,
              textStyle: {color: style.ink, fontSize: 13}, ...option.tooltip},
    xAxis: axis(option.xAxis),
    yAxis: axis(option.yAxis),
  }, {notMerge: true});
  if (group) {
    plot.chart.group = group;
    echarts.connect(group);
  }
}

const sizes = new ResizeObserver((entries) => {
  for (const {target} of entries) plots.find((p) => p.holder === target)?.chart?.resize();
});
dark.addEventListener('change', () => plots.forEach(draw));
addEventListener('beforeprint', () => plots.forEach((p) => p.chart.resize()));

// A figure with a title, a sentence that says in words what the plot shows, and the plot itself.
// `option(look)` gives what to draw and may give another answer after redraw(); null: nothing to
// draw, `empty` says why. Returns the element and redraw().
export function figure({title, unit, says, option, empty, low}) {
  const holder = el('div', {class: low ? 'plot low' : 'plot', role: 'img'});
  const note = el('p', {class: 'nothing'}, empty ?? '');
  const element = el('figure', {},
    el('figcaption', {}, title, unit ? el('small', {}, unit) : null), holder, note);
  const plot = {holder, option};
  const redraw = () => {
    const nothing = option(look()) == null;
    holder.hidden = nothing;
    note.hidden = !nothing;
    holder.setAttribute('aria-label', nothing ? '' : `${title}. ${says()}`);
    if (nothing || !element.isConnected) return;
    if (!plots.includes(plot)) {
      plots.push(plot);
      sizes.observe(holder);
    }
    draw(plot);
  };
  return {element, redraw};
}

// Several figures and one way to draw them again.
export function figures(list, className = 'grid') {
  return {
    element: el('div', {class: className}, list.map((f) => f.element)),
    redraw: () => list.forEach((f) => f.redraw()),
  };
}

// A whisker from low to high at each point [x, low, high]; `offset(api)` shifts it in pixels.
export function whiskers(points, colour, offset = () => 0) {
  return {
    type: 'custom', silent: true, tooltip: {show: false}, z: 5,
    encode: {x: 0, y: [1, 2]},
    data: points,
    renderItem: (_, api) => {
      const shift = offset(api);
      const [x, low] = api.coord([api.value(0), api.value(1)]);
      const high = api.coord([api.value(0), api.value(2)])[1];
      const bar = (x1, y1, x2, y2) => ({
        type: 'line', shape: {x1: x1 + shift, y1, x2: x2 + shift, y2},
        style: {stroke: colour, lineWidth: 1.5},
      });
      return {type: 'group', children: [bar(x, low, x, high), bar(x - 4, low, x + 4, low),
                                        bar(x - 4, high, x + 4, high)]};
    },
  };
}
