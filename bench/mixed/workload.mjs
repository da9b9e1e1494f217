// The mixed load: short interactive requests at random times (Poisson) and a long prompt at regular
// ones, all streamed. Everything comes from the seed.
import {kNeverEnds} from '../lib/model.mjs';
import {Random} from '../lib/random.mjs';

export const kShortPerLong = 12;

function request(random, kind, prompt_tokens, output_tokens) {
  return {
    kind,
    headers: {'x-tidegate-class': kind},
    body: {
      model: 'bench', prompt: random.words(prompt_tokens), max_tokens: output_tokens,
      temperature: 0, logit_bias: kNeverEnds, stream: true, stream_options: {include_usage: true},
    },
  };
}

export const short_request = (random) =>
  request(random, 'short', random.between(32, 64), random.between(32, 64));
export const long_request = (random) =>
  request(random, 'long', random.between(2000, 3000), random.between(16, 64));

// `groups` times one long one and kShortPerLong short ones: for closed loops, where nobody is in a
// hurry to start.
export function sequence(seed, groups) {
  const random = new Random(seed);
  const requests = [];
  for (let group = 0; group < groups; ++group) {
    requests.push(long_request(random));
    for (let i = 0; i < kShortPerLong; ++i) requests.push(short_request(random));
  }
  return requests.map((each) => ({...each, headers: {'x-tidegate-class': 'bulk'}}));
}

// `seconds` of arrivals, with a long prompt every `long_every_ms`.
export function schedule(seed, seconds, long_every_ms) {
  const random = new Random(seed);
  const requests = [];
  const end_ms = seconds * 1000;
  const gap_ms = long_every_ms / kShortPerLong;
  for (let at = random.exponential(gap_ms); at < end_ms; at += random.exponential(gap_ms)) {
    requests.push({at_ms: at, ...short_request(random)});
  }
  for (let at = long_every_ms / 2; at < end_ms; at += long_every_ms) {
    requests.push({at_ms: at, ...long_request(random)});
  }
  return requests.sort((a, b) => a.at_ms - b.at_ms);
}
