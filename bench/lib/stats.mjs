// Order statistics and small helpers for tables.

// The smallest value with at least `fraction` of the values at or below it (nearest rank); null of
// no values.
export function quantile(values, fraction) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)];
}

export const median = (values) => quantile(values, 0.5);
export const sum = (values) => values.reduce((total, value) => total + value, 0);

export function summary(values) {
  return {count: values.length, p50: quantile(values, 0.5), p90: quantile(values, 0.9),
          p99: quantile(values, 0.99), max: quantile(values, 1)};
}

// Rounded to three significant digits, for people.
export function rounded(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '-';
  return String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

// A markdown table; `rows` are lists of cells.
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
