// From what the load generator wrote down to the figures of one run.
import {quantile, sum} from './stats.mjs';

export const ttft_ms = (record) => record.token_ms[0] - record.at_ms;

export function gaps_ms(record) {
  return record.token_ms.slice(1).map((at, i) => at - record.token_ms[i]);
}

export const completed = (record) =>
  record.status === 200 && record.done && !record.error && !record.unfinished;

function tokens(record) {
  return (record.usage?.prompt_tokens ?? 0) + (record.usage?.completion_tokens ?? 0);
}

export function measure(records) {
  const good = records.filter(completed);
  const short = good.filter(({kind}) => kind === 'short');
  const long = good.filter(({kind}) => kind === 'long');
  const gaps = good.flatMap(gaps_ms);
  const span_s = (Math.max(...records.map(({end_ms}) => end_ms ?? 0)) - records[0].at_ms) / 1000;
  return {
    requests: records.length,
    span_s,
    completed: good.length,
    short_ttft_p50_ms: quantile(short.map(ttft_ms), 0.5),
    short_ttft_p99_ms: quantile(short.map(ttft_ms), 0.99),
    long_ttft_p50_ms: quantile(long.map(ttft_ms), 0.5),
    gap_p50_ms: quantile(gaps, 0.5),
    gap_p99_ms: quantile(gaps, 0.99),
    gap_max_ms: quantile(gaps, 1),
    tokens_per_s: sum(good.map(tokens)) / span_s,
    output_tokens_per_s: sum(good.map((record) => record.usage?.completion_tokens ?? 0)) / span_s,
  };
}
