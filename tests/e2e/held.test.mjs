// A streaming request that has to wait is told so, in comments that every SSE reader skips.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {client_of, endless, first_text, keys, post, start_gateway, until_empty}
  from './lib/gateway.mjs';

let server;
before(async () => { server = await start_gateway({sequences: 1}); });
after(() => server.stop());

const story = {model: 'tiny', messages: [{role: 'user', content: 'tell me a story'}], stream: true,
               logit_bias: endless};

// With one place in the engine, the second stream hears its position before its first token.
test('a held stream hears its place in the queue', async () => {
  const client = client_of(server);
  const first = await client.chat.completions.create({...story, max_tokens: 1500});
  await first_text(first);
  const second = await post(server, '/v1/chat/completions', {...story, max_tokens: 4});
  assert.equal(second.status, 200);
  assert.match(second.headers.get('content-type'), /^text\/event-stream/);
  let text = '';
  for await (const part of second.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (/^: ?queued/m.test(text)) first.controller.abort();
  }
  assert.match(text, /^: ?queued position=\d+ eta_ms=\d+/m);
  assert.ok(text.indexOf('queued position') < text.indexOf('data:'));
  assert.match(text, /data: \[DONE\]\s*$/);
  await until_empty(server);
});

// The official client reads over the comments of the wait; they come from the moment it is held, at
// least once a second, and none comes after the first byte of text.
test('comments do not disturb the official client', async (t) => {
  // Two before it: a fast machine is done with one before there is anything more to tell.
  const before_it = [];
  for (let i = 0; i < 2; ++i) {
    before_it.push(await client_of(server).chat.completions.create({...story, max_tokens: 1500}));
  }
  await first_text(before_it[0]);
  let bytes = '';
  const told = [performance.now()];
  const client = client_of(server, keys.acme, {fetch: async (url, init) => {
    const answer = await fetch(url, init);
    const watched = answer.body.pipeThrough(new TransformStream({transform(part, controller) {
      const text = new TextDecoder().decode(part);
      if (!bytes.includes('data:')) told.push(performance.now());
      bytes += text;
      if (/queued(.|\n)*queued/.test(bytes)) {
        for (const stream of before_it) stream.controller.abort();
      }
      controller.enqueue(part);
    }}));
    return new Response(watched, {status: answer.status, headers: answer.headers});
  }});
  const held = await client.chat.completions.create({...story, max_tokens: 8});
  let text = '';
  let finish;
  for await (const chunk of held) {
    text += chunk.choices[0]?.delta?.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
  }
  assert.equal(finish, 'length');
  assert.ok(text.length > 0 && !/queued|keep-alive/.test(text), text);
  assert.ok(bytes.match(/^: /mg).length >= 2, bytes);
  assert.doesNotMatch(bytes.slice(bytes.indexOf('data:')), /^:/m);
  t.diagnostic(`longest silence ${Math.max(...told.slice(1).map((at, i) => at - told[i]))} ms`);
  await until_empty(server);
});

// One who leaves while waiting is forgotten, and the one who runs does not notice.
test('leaving while held', async () => {
  const client = client_of(server);
  const first = await client.chat.completions.create({...story, max_tokens: 400});
  const chunks = [];
  for await (const chunk of first) {
    chunks.push(chunk);
    if (chunks.length !== 2) continue;
    const leaving = new AbortController();
    const held = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST', signal: leaving.signal, body: JSON.stringify({...story, max_tokens: 4}),
      headers: {'content-type': 'application/json', authorization: `Bearer ${client.apiKey}`},
    });
    await held.body.getReader().read();
    leaving.abort();
  }
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'length');
  await until_empty(server);
});
