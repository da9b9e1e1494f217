// Clients that break, flood or attack: each gets a clear error or a clean close, the others notice
// nothing, and nothing is leaked.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {after, afterEach, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {client_of, endless, keys, open_files, post, start_gateway, until, until_empty}
  from '../lib/gateway.mjs';
import {connect, exchange, read_all, status_of} from '../lib/raw.mjs';

let server;
let files_before;
const hello = {model: 'tiny', messages: [{role: 'user', content: 'hello'}], max_tokens: 4};

before(async () => {
  server = await start_gateway();
  await client_of(server).chat.completions.create(hello);
  files_before = open_files(server);
});
after(() => server.stop());

// The law of this file, after every test: it serves, the ledger is empty, every socket is closed.
// The client's own idle connections (at most a handful) may be open.
afterEach(async () => {
  assert.ok(!server.over, 'the server lives');
  assert.ok((await client_of(server).chat.completions.create(hello)).choices[0]);
  await until_empty(server);
  await until(() => open_files(server) <= files_before + 8, 'sockets are closed');
});

const chat = (body, headers = '') => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  return Buffer.concat([Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.acme}\r\n` +
      `Content-Type: application/json\r\n${headers || `Content-Length: ${bytes.length}\r\n`}` +
      'Connection: close\r\n\r\n'), bytes]);
};

// A client that is killed in the middle of its stream frees all that it held.
test('kill -9 in the middle of a stream', async () => {
  const script = fileURLToPath(new URL('../lib/stream_forever.mjs', import.meta.url));
  for (let i = 0; i < 3; ++i) {
    const child = spawn(process.execPath, [script, server.url, keys.acme]);
    await new Promise((resolve, reject) => {
      child.stdout.once('data', resolve);
      child.once('exit', () => reject(new Error('the client ended before its first token')));
    });
    child.kill('SIGKILL');
    await until_empty(server);
  }
});

// A thousand connections at once, of which one speaks, are carried or closed; the one is answered.
test('1,000 connections at once', async () => {
  const sockets = await Promise.all(Array.from({length: 1000},
      () => connect(server).catch(() => null)));
  const opened = sockets.filter(Boolean);
  for (const socket of opened) socket.on('error', () => {});
  assert.ok(opened.length > 0);
  const answers = await Promise.all(opened.slice(0, 50).map((socket) => {
    const answer = read_all(socket);
    socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    return answer;
  }));
  for (const answer of answers) assert.ok([0, 200, 503].includes(status_of(answer)), answer);
  for (const socket of opened) socket.destroy();
});

// A thousand requests at once all end: with an answer, or with a refusal that says why.
test('1,000 requests at once', async () => {
  const answers = await Promise.all(Array.from({length: 1000}, async () => {
    const answer = await exchange(server, chat(JSON.stringify(hello))).catch(() => '');
    return status_of(answer);
  }));
  const count = (status) => answers.filter((one) => one === status).length;
  assert.equal(count(200) + count(429) + count(503) + count(0), 1000, `${new Set(answers)}`);
  assert.ok(count(200) > 0);
});

// Three megabytes of prompt are within the limit on bodies and beyond any engine.
test('a 3 MB prompt', async () => {
  const answer = await post(server, '/v1/chat/completions',
      {...hello, messages: [{role: 'user', content: 'tide '.repeat(600_000)}]});
  assert.ok([400, 413].includes(answer.status), `${answer.status}`);
  assert.ok((await answer.json()).error.message);
});

// Nothing that is not valid JSON of valid UTF-8 within the depth limit is served.
test('malformed bodies', async () => {
  const quoted = (bytes) => Buffer.concat([
    Buffer.from('{"model":"tiny","messages":[{"role":"user","content":"'), Buffer.from(bytes),
    Buffer.from('"}]}')]);
  const bodies = {
    'a lone continuation byte': quoted([0x80]),
    'an overlong slash': quoted([0xc0, 0xaf]),
    'a surrogate as UTF-8': quoted([0xed, 0xa0, 0x80]),
    'beyond U+10FFFF': quoted([0xf4, 0x90, 0x80, 0x80]),
    'a cut character': quoted([0xe2, 0x82]),
    'a raw control character': quoted([0x01]),
    'a lone surrogate escape': quoted(Buffer.from('\\ud800')),
    'deep arrays': Buffer.from(`{"model":"tiny","messages":${'['.repeat(100_000)}`),
    'deep objects in a field': Buffer.from(
        `{"model":"tiny","messages":[],"metadata":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`),
    'an open string': Buffer.from('{"model":"ti'),
    'two texts': Buffer.from('{}{}'),
    'NUL': Buffer.from([0]),
  };
  for (const [what, body] of Object.entries(bodies)) {
    const answer = await exchange(server, chat(body));
    assert.equal(status_of(answer), 400, `${what}: ${answer.slice(0, 300)}`);
    assert.match(answer, /"error"/, what);
  }
});

// Numbers are read into their ranges or refused; none wraps around, none is taken as another.
test('huge and odd numbers', async () => {
  const fields = [
    '"max_tokens":9223372036854775807', '"max_tokens":9223372036854775808', '"max_tokens":1e400',
    '"max_tokens":-1', '"max_tokens":0.5', '"max_tokens":"5"', '"max_tokens":[]', '"n":1000000',
    '"n":0', '"n":-9223372036854775808', '"temperature":1e999', '"temperature":-1',
    '"temperature":NaN', '"top_p":-0.1', '"seed":1e99', '"seed":"x"', '"top_logprobs":4294967297',
    '"logit_bias":{"99999999999999999999":1}', '"logit_bias":{"1":1e300}', '"stop":[1,2]',
    '"stop":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r"]',
    '"stream":"yes"', '"stream_options":7', '"messages":"hello"', '"messages":[{"role":7}]',
  ];
  for (const field of fields) {
    const body = `{"model":"tiny","messages":[{"role":"user","content":"hello"}],${field}}`;
    const answer = await exchange(server, chat(body));
    assert.equal(status_of(answer), 400, `${field}: ${answer.slice(0, 400)}`);
  }
});

// Two readings of where a message ends are an attack; all of these are refused and closed.
test('request smuggling', async () => {
  const body = JSON.stringify(hello);
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const attacks = {
    'length and chunked': chat(chunked,
        `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n`),
    'two lengths': chat(body, `Content-Length: ${body.length}\r\nContent-Length: 3\r\n`),
    'a signed length': chat(body, `Content-Length: +${body.length}\r\n`),
    'a negative length': chat(body, 'Content-Length: -1\r\n'),
    'a length that wraps': chat(body, `Content-Length: 18446744073709551${617 + body.length}\r\n`),
    'an unknown coding': chat(chunked, 'Transfer-Encoding: chunked, identity\r\n'),
    'a negative chunk': chat('-2\r\nxx\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'),
    'a chunk that wraps': chat('10000000000000002\r\nxx\r\n0\r\n\r\n',
        'Transfer-Encoding: chunked\r\n'),
    'a space before the colon': chat(body, `Content-Length : ${body.length}\r\n`),
    'a folded header': chat(body, `Content-Length: ${body.length}\r\nX-A: b\r\n c\r\n`),
    'NUL in a header': chat(body, `Content-Length: ${body.length}\r\nX-A: b\0c\r\n`),
    'a bare CR': chat(body, `Content-Length: ${body.length}\r\nX-A: b\rX-B: c\r\n`),
  };
  for (const [what, bytes] of Object.entries(attacks)) {
    const answer = await exchange(server, bytes);
    const status = status_of(answer);
    assert.ok(status === 0 || (status >= 400 && status < 500) || status === 501,
        `${what}: ${answer.slice(0, 300)}`);
    assert.equal(answer.match(/HTTP\/1\.1 \d+/g)?.length ?? 0, status ? 1 : 0, what);
  }
});

test('headers over the limit', async () => {
  for (const headers of [`X-Big: ${'a'.repeat(200_000)}\r\n`, 'X-Many: 1\r\n'.repeat(20_000)]) {
    const answer = await exchange(server, chat('{}', `${headers}Content-Length: 2\r\n`));
    assert.ok([0, 431].includes(status_of(answer)), answer.slice(0, 200));
  }
  const long_target = await exchange(server,
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.ok([0, 400, 404, 414, 431].includes(status_of(long_target)), long_target.slice(0, 200));
});

test('what is not HTTP', async () => {
  const greetings = ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\r\n\r\n\r\nGARBAGE\r\n\r\n',
    'GET /healthz\r\n\r\n'];
  for (const greeting of greetings) {
    const answer = await exchange(server, Buffer.from(greeting, 'latin1'));
    assert.ok([0, 400, 404, 405, 426, 505].includes(status_of(answer)), answer.slice(0, 200));
  }
});

// Those who trickle their headers or their body are closed in the end and hold up nobody.
test('slowloris', async () => {
  const sockets = [];
  for (let i = 0; i < 100; ++i) {
    const socket = await connect(server);
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const part = i % 2 ? 'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-' :
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.acme}\r\n` +
      'Content-Length: 1000\r\n\r\n{"m';
    socket.write(part);
    const drip = setInterval(() => socket.write('a'), 1000);
    closed.then(() => clearInterval(drip));
    socket.resume();
    sockets.push({socket, closed});
  }
  assert.ok((await client_of(server).chat.completions.create(hello)).choices[0]);
  await Promise.all(sockets.map(({closed}) => closed));
});

// A stream that nobody reads does not hold up the others, and is given up or finished.
test('a reader that does not read', async () => {
  const socket = await connect(server);
  socket.on('error', () => {});
  socket.pause();
  socket.write(chat(JSON.stringify({...hello, max_tokens: 3000, stream: true, n: 2,
                                    logit_bias: endless})));
  assert.ok((await client_of(server).chat.completions.create(hello)).choices[0]);
  socket.destroy();
});

// Requests that follow each other on one connection without waiting are answered in order.
test('pipelining', async () => {
  const get = (route, more) => `GET ${route} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const answer = await exchange(server,
      get('/healthz', '') + get('/v1/models', '') + get('/healthz', 'Connection: close\r\n'));
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  assert.ok(statuses.length >= 1 && statuses[0] === '200', answer.slice(0, 300));
  if (statuses.length > 1) assert.deepEqual(statuses, ['200', '401', '200']);
});
