// Numbers as a person reads them. Missing values are shown as a dash.

const NONE = '–';
const counts = new Intl.NumberFormat('en', {maximumFractionDigits: 0});

export function count(n) {
  return n == null ? NONE : counts.format(n);
}

// Three significant digits, at most.
export function number(v) {
  if (v == null) return NONE;
  const size = Math.abs(v);
  if (size >= 100) return counts.format(v);
  return v.toLocaleString('en', {maximumFractionDigits: size >= 10 ? 1 : 2});
}

// A share as a percentage. Never rounded up to 100: a missed promise must not look kept.
export function percent(share) {
  if (share == null) return NONE;
  const value = share * 100;
  if (share < 1 && value > 99.99) return '99.99 %';
  return value.toFixed(value > 99 && value < 100 ? 2 : 1) + ' %';
}

export function points(difference) {
  return difference == null ? NONE : (difference * 100).toFixed(1) + ' points';
}

// A span given in milliseconds, with the unit that suits it.
export function duration(ms) {
  if (ms == null) return NONE;
  if (ms === 0) return '0 ms';
  if (ms < 1) return ms.toFixed(2) + ' ms';
  if (ms < 1e3) return number(ms) + ' ms';
  if (ms < 120e3) return number(ms / 1e3) + ' s';
  if (ms < 7200e3) return number(ms / 60e3) + ' min';
  return number(ms / 3600e3) + ' h';
}

// A point in the run, given in seconds: 1:02:03, without what the run does not need.
export function clock(seconds) {
  const whole = Math.round(seconds);
  const pad = (n) => String(n).padStart(2, '0');
  const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60, s = whole % 60;
  return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}

// Reasons and bounds are snake_case in the report.
export function words(name) {
  return {interval_lp: 'interval LP', kv_full: 'KV full'}[name] ?? name.replaceAll('_', ' ');
}
