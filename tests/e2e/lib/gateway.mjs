// A gateway with a known configuration for tests: its keys, its models, and questions about what it
// still holds.
import OpenAI from 'openai';
import {createHash} from 'node:crypto';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pause, root, start_tidegate} from '../../../bench/lib/servers.mjs';

export const model_file = process.env.TIDEGATE_TEST_MODEL ??
    path.join(root, 'models', readdirSync(path.join(root, 'models'), {recursive: true})
        .find((name) => name.endsWith('.gguf')) ?? 'missing.gguf');

export const keys = {
  acme: 'sk-test-acme-0123456789abcdef0123456789abcdef',      // no limits
  modest: 'sk-test-modest-0123456789abcdef0123456789abcd',    // two requests a minute
  single: 'sk-test-single-0123456789abcdef0123456789abcd',    // one request at a time, none waiting
  narrow: 'sk-test-narrow-0123456789abcdef0123456789abcd',    // may use `second` only
  admin: 'sk-test-admin-0123456789abcdef0123456789abcde',
};
// Never the end of the text nor of a turn: an answer with this bias runs to its max_tokens.
export const endless = {2: -100, 6: -100};
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

// Two models that are the same file, so that one of them can be forbidden.
function config_text({sequences, kv_tokens, classes, server}) {
  const engine = (name) => `  - {llama: "${model_file}", name: ${name}, threads: 1, ` +
      `max_sequences: ${sequences}, kv_tokens: ${kv_tokens}, calibration: 500ms}`;
  return `engines:
${engine('tiny')}
${engine('second')}
models: [{name: tiny}, {name: second}]
classes: ${classes}
server: {admin: {keys_sha256: [${sha256(keys.admin)}]}${server}}
tenants:
  - {name: acme, keys_sha256: [${sha256(keys.acme)}], class: chat, classes: ["*"],
     models: ["*"], on_overload: queue}
  - {name: modest, keys_sha256: [${sha256(keys.modest)}], class: chat,
     limits: {requests_per_min: 2}}
  - {name: single, keys_sha256: [${sha256(keys.single)}], class: chat, limits: {in_flight: 1}}
  - {name: narrow, keys_sha256: [${sha256(keys.narrow)}], class: chat, models: [second]}
`;
}

// Starts a gateway; stop() ends it and removes its folder. `server` is more of that section, each
// key after a comma.
export async function start_gateway({sequences = 8, kv_tokens = 8192,
    classes = '[{name: chat, ttft: 20s, tpot: 2s}, {name: batch, best_effort: true}]',
    server: more = ''} = {}) {
  if (!existsSync(model_file)) throw new Error(`no model at ${model_file}`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tidegate-e2e-'));
  const config = path.join(folder, 'config.yaml');
  writeFileSync(config, config_text({sequences, kv_tokens, classes, server: more}));
  const log = path.join(folder, 'log.txt');
  const server = await start_tidegate({config, log});
  const stop = server.stop.bind(server);
  server.stop = async (signal) => {
    const ended = await stop(signal);
    rmSync(folder, {recursive: true, force: true});
    return ended;
  };
  server.log_text = () => readFileSync(log, 'utf8');
  return server;
}

export function client_of(server, key = keys.acme, options = {}) {
  return new OpenAI({apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0, timeout: 60_000,
                     ...options});
}

// Waits for the first text of a stream and leaves the stream running. (Leaving a `for await` by
// break would end it.)
export async function first_text(stream) {
  const reader = stream[Symbol.asyncIterator]();
  for (;;) {
    const {value, done} = await reader.next();
    if (done) throw new Error('the stream ended without text');
    if (value.choices[0]?.delta?.content) return;
  }
}

// POST of any body with any headers, without a client in between.
export function post(server, route, body, headers = {}) {
  return fetch(server.url + route, {
    method: 'POST',
    headers: {'content-type': 'application/json', authorization: `Bearer ${keys.acme}`, ...headers},
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
}

// The sum of a metric's samples whose labels contain `labels`; 0 where there is none.
export async function metric(server, name, labels = '') {
  const answer = await fetch(`${server.url}/metrics`,
      {headers: {authorization: `Bearer ${keys.admin}`}});
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`/metrics answers ${answer.status}: ${text}`);
  let total = 0;
  for (const line of text.split('\n')) {
    const match = /^(\w+)(\{[^}]*\})? (\S+)/.exec(line);
    if (match?.[1] === `tidegate_${name}` && (match[2] ?? '').includes(labels)) {
      total += Number(match[3]);
    }
  }
  return total;
}

// Asks again until `question` is true; the limit only bounds a failing test.
export async function until(question, what, limit_ms = 20_000) {
  const give_up = Date.now() + limit_ms;
  while (!(await question())) {
    if (Date.now() > give_up) throw new Error(`not within ${limit_ms} ms: ${what}`);
    await pause(20);
  }
}

async function state(server) {
  const answer = await fetch(`${server.url}/admin/v1/state`,
      {headers: {authorization: `Bearer ${keys.admin}`}});
  if (answer.status !== 200) throw new Error(`/admin/v1/state answers ${answer.status}`);
  return answer.json();
}

// What is still held, in words; empty when nothing runs, nothing waits, no KV is promised or used
// (cached blocks can be taken back and count as free), and no tenant's limit is charged.
function left_over({alive, waiting, engines, tenants}) {
  const counts = {alive, waiting};
  for (const engine of engines) {
    for (const key of ['promised_requests', 'promised_kv_tokens', 'kv_used_blocks', 'running']) {
      counts[`${key} of ${engine.name}`] = engine[key];
    }
  }
  for (const tenant of tenants) {
    for (const key of ['alive', 'on_engines', 'reserved_tokens']) {
      counts[`${key} of ${tenant.name}`] = tenant[key];
    }
  }
  return Object.entries(counts).filter(([, count]) => count).map((pair) => pair.join(': ')).join();
}

export async function until_empty(server) {
  let left;
  await until(async () => !(left = left_over(await state(server))), 'nothing is held')
      .catch((error) => { throw new Error(`${error.message}; left: ${left}`); });
}

export const open_files = (server) => readdirSync(`/proc/${server.child.pid}/fd`).length;
