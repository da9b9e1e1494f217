// The gateway under the policies of other projects: the same answers, and a journal that says who
// decided.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {client_of, start_gateway, until_empty} from './lib/gateway.mjs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'tidegate-policy-'));
after(() => rmSync(folder, {recursive: true, force: true}));
const greedy = {
  model: 'tiny', messages: [{role: 'user', content: 'what is tidegate'}], temperature: 0,
  max_tokens: 24,
};

async function answers(policy, journal) {
  const more = `, policy: ${policy}, journal: {path: "${journal}"}`;
  const server = await start_gateway({server: more});
  try {
    const client = client_of(server);
    const asked = Array.from({length: 12}, () => client.chat.completions.create(greedy));
    const all = (await Promise.all(asked)).map((answer) => answer.choices[0].message.content);
    await until_empty(server);
    return all;
  } finally {
    await server.stop();
  }
}

let expected;
before(async () => {
  expected = (await answers('tidegate', path.join(folder, 'tidegate.journal')))[0];
});

// Who decides when a token is computed does not change which token it is; and a replay finds in the
// journal who decided, and decides the same.
for (const policy of ['vllm-v1', 'qoserve/epp', 'vtc/slots', 'tidegate/least-kv']) {
  test(`${policy} answers alike, and its journal can be replayed`, async () => {
    const journal = path.join(folder, `${policy.replace('/', '_')}.journal`);
    for (const answer of await answers(policy, journal)) assert.equal(answer, expected);
    const said = JSON.parse(
        execFileSync(process.env.TIDEGATE_BINARY, ['replay', journal, '--json']));
    assert.equal(said.identical, true);
    assert.ok(said.decisions > 12);
  });
}

// A policy that does not exist is wrong usage, named with what was meant.
test('an unknown policy is refused at start', () => {
  const ended = spawnSync(process.env.TIDEGATE_BINARY, ['serve', '--policy', 'vlm-v1'],
      {encoding: 'utf8'});
  assert.equal(ended.status, 2);
  assert.match(ended.stderr, /--policy: there is no engine policy 'vlm-v1'.*'vllm-v1'/);
});
