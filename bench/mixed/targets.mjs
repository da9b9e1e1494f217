// The servers that are compared, each with the same model, threads, slots and KV memory.
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {start_llama_server, start_tidegate} from '../lib/servers.mjs';

export const kSequences = 8;
const kContext = 4096;  // of one sequence

// llama-server as it comes, and as somebody would tune it for shorter stalls: smaller batches, one
// KV pool for all slots, no flash attention (which a CPU does not always gain from).
export const peers = {
  'default': [],
  'b512': ['-b', '512', '-ub', '512'],
  'b128': ['-b', '128', '-ub', '128'],
  'b128-kvu': ['-b', '128', '-ub', '128', '-kvu'],
  'b64-kvu': ['-b', '64', '-ub', '64', '-kvu'],
  'b64-kvu-nofa': ['-b', '64', '-ub', '64', '-kvu', '-fa', 'off'],
  'b32-kvu-nofa': ['-b', '32', '-ub', '32', '-kvu', '-fa', 'off'],
};

// The pace is promised loosely, so that steps may be long enough for the kernels to be efficient: a
// tighter one gives shorter gaps and costs tokens/s. As in llama-server each sequence has KV memory
// of its own.
function tidegate_config(folder, {model, threads}) {
  const file = path.join(folder, 'mixed.yaml');
  writeFileSync(file, `
engines: [{llama: "${model}", name: bench, threads: ${threads},
           max_sequences: ${kSequences}, kv_tokens: ${kSequences * kContext}, kv_unified: false}]
models:  [{name: bench}]
classes: [{name: short, ttft: 5s, tpot: 400ms}, {name: long, ttft: 60s, tpot: 400ms},
          {name: bulk, ttft: 10min, tpot: 400ms}]
tenants: [{name: bench, class: short, classes: ["*"], on_overload: queue}]
`);
  return file;
}

export function start(name, folder, label, {model, threads}) {
  const log = path.join(folder, `${name}.${label}.log`);
  if (name === 'tidegate') {
    return start_tidegate({config: tidegate_config(folder, {model, threads}), log});
  }
  return start_llama_server({
    binary: process.env.LLAMA_SERVER, model, log,
    options: ['--threads', threads, '--parallel', String(kSequences),
              '--ctx-size', String(kSequences * kContext), '--alias', 'bench', ...peers[name]],
  });
}
