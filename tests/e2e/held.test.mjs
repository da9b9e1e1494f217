// A streaming request that has to wait is told so, in comments that every SSE reader skips.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {client_of, endless, first_text, post, start_gateway, until_empty} from './lib/gateway.mjs';

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
