// What a user of the official OpenAI client gets when all is well.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {
  client_of, endless, first_text, metric, start_gateway, until, until_empty,
} from './lib/gateway.mjs';

let server;
let client;
before(async () => {
  server = await start_gateway();
  client = client_of(server);
});
after(() => server.stop());

const question = [{role: 'user', content: 'what is tidegate'}];
const greedy = {model: 'tiny', messages: question, temperature: 0, max_tokens: 24};

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
const text_of = (chunks) => chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? '').join('');

// Every configured model is listed, and each can be asked for by the name in the list.
test('models are listed and can be retrieved', async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names.sort(), ['second', 'tiny']);
  const one = await client.models.retrieve('tiny');
  assert.equal(one.id, 'tiny');
  assert.equal(one.object, 'model');
});

// An answer has the shape that the API promises, and its usage adds up.
test('chat', async () => {
  const {data, response} = await client.chat.completions.create(greedy).withResponse();
  assert.equal(data.object, 'chat.completion');
  assert.equal(data.model, 'tiny');
  assert.equal(data.choices.length, 1);
  assert.equal(data.choices[0].message.role, 'assistant');
  assert.ok(data.choices[0].message.content.length > 0);
  assert.ok(['stop', 'length'].includes(data.choices[0].finish_reason));
  assert.ok(data.usage.prompt_tokens > 0);
  assert.ok(data.usage.completion_tokens > 0 && data.usage.completion_tokens <= 24);
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens);
  assert.ok(response.headers.get('x-request-id'));
  assert.match(response.headers.get('x-tidegate-decision') ?? '', /class/);
});

// A stream carries the same text as the whole answer, then the usage, then its end.
test('streaming says the same as not streaming, with usage', async () => {
  const whole = await client.chat.completions.create(greedy);
  const chunks = await collect(await client.chat.completions.create(
      {...greedy, stream: true, stream_options: {include_usage: true}}));
  assert.equal(text_of(chunks), whole.choices[0].message.content);
  const last = chunks.at(-1);
  assert.deepEqual(last.choices, []);
  assert.deepEqual(last.usage.completion_tokens, whole.usage.completion_tokens);
  assert.deepEqual(last.usage.prompt_tokens, whole.usage.prompt_tokens);
  const finished = chunks.filter((chunk) => chunk.choices[0]?.finish_reason);
  assert.equal(finished.length, 1);
  assert.equal(finished[0].choices[0].finish_reason, whole.choices[0].finish_reason);
  assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
});

// Without include_usage no chunk is without a choice.
test('streaming without usage', async () => {
  const chunks = await collect(await client.chat.completions.create({...greedy, stream: true}));
  assert.ok(chunks.every((chunk) => chunk.choices.length === 1));
  assert.equal(chunks[0].choices[0].delta.role, 'assistant');
});

// The older endpoint continues a text, whole and as a stream alike.
test('completions', async () => {
  const request = {model: 'tiny', prompt: 'A KV block is', temperature: 0, max_tokens: 12};
  const whole = await client.completions.create(request);
  assert.equal(whole.object, 'text_completion');
  assert.ok(whole.choices[0].text.length > 0);
  const chunks = await collect(await client.completions.create({...request, stream: true}));
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.text ?? '').join(''), whole.choices[0].text);
});

// max_tokens bounds the answer exactly, and the answer says that this was the reason.
test('an answer that is cut says so', async () => {
  const answer = await client.chat.completions.create({...greedy, max_tokens: 3});
  assert.equal(answer.usage.completion_tokens, 3);
  assert.equal(answer.choices[0].finish_reason, 'length');
});

// The text ends before the first stop string, in a stream too, where no part of it may slip out.
test('stop sequences', async () => {
  const whole = (await client.chat.completions.create(greedy)).choices[0].message.content;
  const middle = Math.floor(whole.length / 2);
  const stop = whole.slice(middle, middle + 4);
  const expected = whole.slice(0, whole.indexOf(stop));
  const cut = await client.chat.completions.create({...greedy, stop: [stop, 'never in the text']});
  assert.equal(cut.choices[0].message.content, expected);
  assert.equal(cut.choices[0].finish_reason, 'stop');
  const chunks = await collect(
      await client.chat.completions.create({...greedy, stop, stream: true}));
  assert.equal(text_of(chunks), expected);
});

// Two choices are two answers with indices 0 and 1, both paid for; the prompt counts once.
test('n = 2', async () => {
  const one = await client.chat.completions.create(greedy);
  const two = await client.chat.completions.create({...greedy, n: 2, temperature: 1, seed: 5});
  assert.deepEqual(two.choices.map(({index}) => index).sort(), [0, 1]);
  assert.ok(two.choices.every(({message}) => message.content.length > 0));
  assert.equal(two.usage.prompt_tokens, one.usage.prompt_tokens);
  const chunks = await collect(await client.chat.completions.create(
      {...greedy, n: 2, stream: true, stream_options: {include_usage: true}}));
  const finished = chunks.filter((chunk) => chunk.choices[0]?.finish_reason);
  assert.deepEqual(finished.map((chunk) => chunk.choices[0].index).sort(), [0, 1]);
  assert.equal(chunks.at(-1).usage.completion_tokens, 2 * one.usage.completion_tokens);
});

// Log probabilities are those of a distribution, and greedy decoding takes the likeliest token.
test('logprobs', async () => {
  const answer = await client.chat.completions.create(
      {...greedy, logprobs: true, top_logprobs: 3});
  const content = answer.choices[0].logprobs.content;
  assert.ok(content.length > 0);
  assert.equal(content.map(({token}) => token).join('').trim(),
      answer.choices[0].message.content.trim());
  for (const {logprob, top_logprobs} of content) {
    assert.equal(top_logprobs.length, 3);
    assert.ok(logprob <= 0);
    assert.ok(Math.abs(top_logprobs[0].logprob - logprob) < 1e-6);
    assert.ok(top_logprobs.reduce((sum, top) => sum + Math.exp(top.logprob), 0) <= 1 + 1e-4);
  }
  const old = await client.completions.create(
      {model: 'tiny', prompt: 'A KV block is', temperature: 0, max_tokens: 4, logprobs: 2});
  const {tokens, token_logprobs} = old.choices[0].logprobs;
  assert.equal(tokens.length, token_logprobs.length);
});

// An equal seed gives an equal answer; among other seeds at least one differs.
test('seeds', async () => {
  const ask = async (seed) => (await client.chat.completions.create(
      {...greedy, messages: [{role: 'user', content: 'tell me a story'}], temperature: 1.2, seed}))
      .choices[0].message.content;
  assert.equal(await ask(7), await ask(7));
  const others = new Set();
  for (const seed of [1, 2, 3, 4, 5]) others.add(await ask(seed));
  assert.ok(others.size > 1);
});

// Equal texts have equal vectors, and the vectors have the model's width.
test('embeddings', async () => {
  const answer = await client.embeddings.create(
      {model: 'tiny', input: ['a boat', 'a gate', 'a boat'], encoding_format: 'float'});
  assert.equal(answer.data.length, 3);
  assert.deepEqual(answer.data.map(({index}) => index), [0, 1, 2]);
  const [first, second, third] = answer.data.map(({embedding}) => embedding);
  assert.ok(first.length > 0 && first.every(Number.isFinite));
  assert.equal(second.length, first.length);
  first.forEach((value, i) => assert.ok(Math.abs(value - third[i]) < 1e-4));
  assert.notDeepEqual(first, second);
  assert.ok(answer.usage.prompt_tokens > 0);
  // The client asks for base64 when it is not told otherwise, and decodes it.
  const packed = await client.embeddings.create({model: 'tiny', input: 'a gate'});
  packed.data[0].embedding.forEach((value, i) => assert.ok(Math.abs(value - second[i]) < 1e-4));
});

// A caller who goes away in the middle frees the engine and the ledger.
test('abort in the middle of a stream', async () => {
  const stream = await client.chat.completions.create(
      {...greedy, messages: [{role: 'user', content: 'tell me a long story'}], max_tokens: 2000,
       stream: true, logit_bias: endless});
  await first_text(stream);
  stream.controller.abort();
  await until_empty(server);
  assert.ok((await client.chat.completions.create(greedy)).choices[0].message.content);
});

// Many callers at once are all answered in full and counted.
test('sixteen callers at once', async () => {
  const answers = await Promise.all(Array.from({length: 16},
      () => client.chat.completions.create({...greedy, max_tokens: 8})));
  for (const answer of answers) assert.equal(answer.usage.completion_tokens, 8);
  await until_empty(server);
  await until(async () => (await metric(server, 'requests_total', 'outcome="completed"')) >= 16,
      'they are counted as completed');
});

// A call that is sent again with its key is answered again and not done again.
test('an idempotency key', async () => {
  const headers = {'Idempotency-Key': 'e2e-1'};
  const written = () => metric(server, 'tokens_total', 'direction="output"');
  const first = await client.chat.completions.create(greedy, {headers});
  const before_second = await written();
  const second = await client.chat.completions.create(greedy, {headers});
  assert.deepEqual(second, first);
  assert.equal(await written(), before_second);
  await assert.rejects(client.chat.completions.create({...greedy, max_tokens: 3}, {headers}),
      {status: 422});
});

// Priority is a number that the client may set; it changes when, not what.
test('priority', async () => {
  const plain = await client.chat.completions.create(greedy);
  const urgent = await client.chat.completions.create({...greedy, priority: -2});
  assert.equal(urgent.choices[0].message.content, plain.choices[0].message.content);
});
