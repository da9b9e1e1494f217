// What the official client sees when the answer is no: a status, a reason, and whether and when to
// come back.
import OpenAI from 'openai';
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {
  client_of, endless, first_text, keys, post, start_gateway, until, until_empty,
} from './lib/gateway.mjs';
import {start_recorder} from './lib/recorder.mjs';

let server;
before(async () => { server = await start_gateway(); });
after(() => server.stop());

const hello = {model: 'tiny', messages: [{role: 'user', content: 'hello'}], max_tokens: 4};

// Runs `call`, which must be refused, and checks the shape that all refusals share.
async function refused(call, type, status) {
  const error = await call.then(() => assert.fail('was not refused'), (caught) => caught);
  assert.ok(error instanceof type, `${error}`);
  assert.equal(error.status, status);
  assert.ok(error.error.message.length > 0);
  assert.ok(error.error.type);
  assert.ok(error.headers.get('x-request-id'));
  return error;
}

// A request that could never run is a mistake of the caller: named, and not tried again.
test('400: a prompt that fits no engine', async (t) => {
  const recorder = await start_recorder(t, server);
  const client = client_of(recorder, keys.acme, {maxRetries: 2});
  const error = await refused(client.chat.completions.create(
      {...hello, messages: [{role: 'user', content: 'tide '.repeat(20_000)}]}),
      OpenAI.BadRequestError, 400);
  assert.equal(error.headers.get('x-should-retry'), 'false');
  assert.equal(recorder.attempts.length, 1);
});

// Malformed input is refused, and the field that is wrong is named.
test('400: fields out of range name themselves', async () => {
  const client = client_of(server);
  const wrong = {
    temperature: {temperature: 9}, top_p: {top_p: 2}, n: {n: 100_000}, max_tokens: {max_tokens: -1},
    messages: {messages: []},
  };
  for (const [field, change] of Object.entries(wrong)) {
    const error = await refused(client.chat.completions.create({...hello, ...change}),
        OpenAI.BadRequestError, 400);
    assert.match(`${error.error.param} ${error.error.message}`, new RegExp(field));
  }
});

test('400: a body that is not JSON', async () => {
  for (const body of ['', '{', '[]', 'null', '{"model": "tiny",}']) {
    const answer = await post(server, '/v1/chat/completions', body);
    assert.equal(answer.status, 400, body);
    assert.ok((await answer.json()).error.message);
    assert.equal(answer.headers.get('x-should-retry'), 'false');
  }
});

// No key and a wrong key get the same body, so that neither tells more than the other.
test('401: unknown keys', async () => {
  await refused(client_of(server, 'sk-wrong').chat.completions.create(hello),
      OpenAI.AuthenticationError, 401);
  const bodies = [];
  for (const authorization of ['Bearer sk-wrong', 'Bearer ', 'Basic abc', '']) {
    const answer = await post(server, '/v1/chat/completions', hello, {authorization});
    assert.equal(answer.status, 401);
    bodies.push((await answer.json()).error.message);
  }
  assert.equal(new Set(bodies).size, 1);
});

test('403: a model that this tenant may not use', async () => {
  const client = client_of(server, keys.narrow);
  await refused(client.chat.completions.create(hello), OpenAI.PermissionDeniedError, 403);
  assert.ok(await client.chat.completions.create({...hello, model: 'second'}));
});

test('404: an unknown model, and an unknown route', async () => {
  const error = await refused(
      client_of(server).chat.completions.create({...hello, model: 'gpt-99'}),
      OpenAI.NotFoundError, 404);
  assert.match(error.error.message, /gpt-99/);
  assert.equal((await post(server, '/v1/nothing', hello)).status, 404);
});

// What no engine has is said once: the client does not try again and is told where to go.
test('501: the Responses API', async (t) => {
  const recorder = await start_recorder(t, server);
  const error = await refused(client_of(recorder, keys.acme, {maxRetries: 2})
      .responses.create({model: 'tiny', input: 'hello'}), OpenAI.InternalServerError, 501);
  assert.match(error.error.message, /chat\/completions/);
  assert.equal(recorder.attempts.length, 1);
});

test('413: a body over the limit', async () => {
  const answer = await post(server, '/v1/chat/completions', 'x'.repeat(8 << 20))
      .catch((error) => error);
  // The server may close before all was sent; who reads the answer reads 413.
  if (!(answer instanceof Error)) assert.equal(answer.status, 413);
  assert.ok(await client_of(server).chat.completions.create(hello));
});

// A tenant's own limit is a 429 that says which limit and when it has room again.
test('429: requests per minute', async () => {
  const client = client_of(server, keys.modest);
  let error;
  for (let i = 0; i < 3 && !error; ++i) {
    error = await client.chat.completions.create(hello).then(() => null, (caught) => caught);
  }
  assert.ok(error instanceof OpenAI.RateLimitError, `${error}`);
  assert.equal(error.error.reason, 'request_rate');
  assert.equal(error.error.what_is_full, 'tenant_requests');
  assert.equal(error.headers.get('x-tidegate-reason'), 'request_rate');
  const hint_ms = Number(error.headers.get('retry-after-ms'));
  assert.ok(hint_ms > 0 && hint_ms <= 120_000, `${hint_ms}`);
  assert.equal(error.error.retry_after_ms, hint_ms);
  assert.equal(Number(error.headers.get('retry-after')), Math.ceil(hint_ms / 1000));
});

// The client waits as long as it was told before it asks again, and then says how often it did. The
// recorder keeps the refusal back until the tenant's one place is free: the hint is a prediction,
// and this test is about who honours it.
test('retries honour the hint', async (t) => {
  const holder = client_of(server, keys.single);
  const stream = await holder.chat.completions.create({...hello, max_tokens: 1500, stream: true,
      logit_bias: endless});
  await first_text(stream);
  const recorder = await start_recorder(t, server, async ({status}) => {
    if (status !== 429) return;
    stream.controller.abort();
    await until_empty(server);
  });
  const client = client_of(recorder, keys.single, {maxRetries: 2});
  const answer = await client.chat.completions.create(hello).catch((error) => error);
  assert.ok(answer.choices, `${answer}`);
  assert.deepEqual(recorder.attempts.map(({status}) => status), [429, 200]);
  const [first, second] = recorder.attempts;
  assert.equal(first.error, undefined);
  assert.equal(first.headers['x-tidegate-reason'], 'in_flight');
  assert.equal(second.retry_count, '1');
  assert.ok(second.at_ms - first.answered_ms >= Number(first.headers['retry-after-ms']) - 2);
});

// While it drains, what runs is finished and what comes is sent elsewhere.
test('503: draining', async (t) => {
  const draining = await start_gateway();
  t.after(() => draining.stop('SIGKILL'));
  const client = client_of(draining);
  const stream = await client.chat.completions.create(
      {...hello, max_tokens: 300, stream: true, logit_bias: endless});
  const chunks = [];
  const reading = (async () => { for await (const chunk of stream) chunks.push(chunk); })();
  await until(() => chunks.length > 1, 'the stream runs');
  const drained = await fetch(`${draining.url}/admin/v1/drain`,
      {method: 'POST', headers: {authorization: `Bearer ${keys.admin}`}});
  assert.equal(drained.status, 200);
  const error = await refused(
      client.chat.completions.create(hello), OpenAI.InternalServerError, 503);
  assert.equal(error.error.reason, 'draining');
  assert.ok(Number(error.headers.get('retry-after-ms')) > 0);
  assert.notEqual((await fetch(`${draining.url}/readyz`)).status, 200);
  assert.equal((await fetch(`${draining.url}/healthz`)).status, 200);
  await reading;
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'length');
  const ended = await draining.stop();
  assert.deepEqual(ended, {code: 0, signal: null});
});

// SIGTERM finishes what runs before it ends, with status 0.
test('SIGTERM drains', async (t) => {
  const ending = await start_gateway();
  t.after(() => ending.stop('SIGKILL'));
  const stream = await client_of(ending).chat.completions.create(
      {...hello, max_tokens: 200, stream: true, logit_bias: endless});
  let last;
  let seen = 0;
  for await (const chunk of stream) {
    if (++seen === 2) ending.child.kill('SIGTERM');
    last = chunk;
  }
  assert.equal(last.choices[0].finish_reason, 'length');
  assert.deepEqual(await ending.ended, {code: 0, signal: null});
});

// Whoever asks for the admin interface needs its own key; a tenant's key is none.
test('the admin interface is closed to tenants', async () => {
  for (const route of ['state', 'engines', 'tenants']) {
    const url = `${server.url}/admin/v1/${route}`;
    const tenant = await fetch(url, {headers: {authorization: `Bearer ${keys.acme}`}});
    assert.ok([401, 403].includes(tenant.status), `${route}: ${tenant.status}`);
    const admin = await fetch(url, {headers: {authorization: `Bearer ${keys.admin}`}});
    assert.equal(admin.status, 200);
    assert.ok(await admin.json());
  }
  await until_empty(server);
});
