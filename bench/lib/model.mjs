// The model the benchmarks run: random weights of a 100M shape with a byte-level vocabulary, so
// that one letter is one token. Written once by tools/mkmodel and kept in .cache/models/.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import {root} from './servers.mjs';

// Its end of text is token 0; a request with this bias runs to its max_tokens.
export const kNeverEnds = {0: -100};

export function bench_model(given) {
  if (given) return given;
  const file = path.join(root, '.cache/models/random-100M-q4_0.gguf');
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), {recursive: true});
    execFileSync(path.join(root, 'build/release/bin/mkmodel'),
        ['random', '--shape', '100M', '--type', 'q4_0', '--out', file], {stdio: 'inherit'});
  }
  return file;
}
