// The load generator: a process of its own that sends requests at given times, whatever the server
// does (open loop), and writes down when each answer, comment and token arrived.
//
//   node load.mjs PLAN.json RESULT.json
//
// PLAN: {url, headers, grace_ms, requests: [{at_ms, kind, body}]}; every body streams.
// With {closed_loop: N} the times are ignored and N requests are kept running instead.
// RESULT: [{kind, at_ms, sent_ms, status, headers_ms, token_ms: [...], comment_ms: [...], end_ms,
//           usage, finish, reason, what_is_full, retry_after_ms, should_retry, error}], times in
// milliseconds since the start. A latency is counted from at_ms, when the request was due, not from
// when the generator came round to sending it (no coordinated omission).
import {readFileSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {performance} from 'node:perf_hooks';

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const target = new URL(plan.url);
// A connection for each request: a kept one may just be closed by the server when it is used again.
const agent = new http.Agent({keepAlive: false, maxSockets: Infinity});
const start = performance.now();
const now_ms = () => performance.now() - start;

// An error object can be the whole body of a refusal or the last event of a stream.
function take_error(record, error) {
  record.error = error.message ?? String(error);
  record.reason = error.reason;
  record.what_is_full = error.what_is_full;
}

function take_event(record, data, at) {
  if (data === '[DONE]') {
    record.done = true;
    return;
  }
  const event = JSON.parse(data);
  if (event.error) take_error(record, event.error);
  if (event.usage) record.usage = event.usage;
  const choice = event.choices?.[0];
  if (choice?.finish_reason) record.finish = choice.finish_reason;
  if (choice?.text || choice?.delta?.content) record.token_ms.push(at);
}

function take_line(record, line, at) {
  if (line.startsWith('data:')) {
    take_event(record, line.slice(5).trim(), at);
  } else if (line.startsWith(':')) {
    record.comment_ms.push(at);
  }
}

// Cuts the body into lines as it arrives; a refusal's body is one JSON text instead.
function read_body(record, response, finished) {
  let rest = '';
  const streamed = (response.headers['content-type'] ?? '').startsWith('text/event-stream');
  response.setEncoding('utf8');
  response.on('data', (chunk) => {
    const at = now_ms();
    rest += chunk;
    if (!streamed) return;
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) take_line(record, line, at);
  });
  response.on('end', () => {
    if (!streamed) {
      try {
        take_error(record, JSON.parse(rest).error ?? {message: rest});
      } catch {
        record.error = rest;
      }
    }
    finished();
  });
  response.on('error', (error) => finished(error));
}

function send(request, record, finished) {
  const body = Buffer.from(JSON.stringify(request.body));
  const call = http.request({
    host: target.hostname, port: target.port, path: target.pathname, method: 'POST', agent,
    headers: {'content-type': 'application/json', 'content-length': body.length, ...plan.headers,
              ...request.headers},
  });
  let over = false;
  const finish_once = (error) => {
    if (over) return;
    over = true;
    record.end_ms = now_ms();
    if (error) record.error = error.message;
    finished();
  };
  call.on('response', (response) => {
    record.status = response.statusCode;
    record.headers_ms = now_ms();
    record.retry_after_ms = response.headers['retry-after-ms'];
    record.should_retry = response.headers['x-should-retry'];
    read_body(record, response, finish_once);
  });
  call.on('error', finish_once);
  call.setNoDelay(true);
  record.sent_ms = now_ms();
  call.end(body);
  return call;
}

const records = plan.requests.map(({kind, at_ms}) => ({kind, at_ms, token_ms: [], comment_ms: []}));
const calls = new Map();
let left = records.length;

function finish_all() {
  writeFileSync(process.argv[3], JSON.stringify(records));
  process.exit(0);
}

function begin(index, after) {
  const record = records[index];
  if (plan.closed_loop) record.at_ms = now_ms();
  calls.set(index, send(plan.requests[index], record, () => {
    calls.delete(index);
    if (--left === 0) finish_all();
    after?.();
  }));
}

if (plan.closed_loop) {
  let next = 0;
  const begin_next = () => {
    if (next < records.length) begin(next++, begin_next);
  };
  for (let i = 0; i < plan.closed_loop; ++i) begin_next();
} else {
  plan.requests.forEach((request, index) => setTimeout(() => begin(index), request.at_ms));
}
// What is still open after the grace is written down as it stands.
const last_ms = plan.requests.reduce((latest, {at_ms}) => Math.max(latest, at_ms ?? 0), 0);
setTimeout(() => {
  for (const [index, call] of calls) {
    records[index].unfinished = true;
    call.destroy();
  }
  finish_all();
}, last_ms + plan.grace_ms);
