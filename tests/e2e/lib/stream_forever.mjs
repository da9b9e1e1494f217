// A client to be killed: streams from URL (argument 1) with KEY (argument 2) and prints a line at
// the first token.
import OpenAI from 'openai';
import {endless} from './gateway.mjs';

const client = new OpenAI({baseURL: `${process.argv[2]}/v1`, apiKey: process.argv[3]});
const stream = await client.chat.completions.create({
  model: 'tiny', messages: [{role: 'user', content: 'tell me a story'}], max_tokens: 3000,
  stream: true, logit_bias: endless,
});
let told = false;
for await (const chunk of stream) {
  if (!told && chunk.choices[0]?.delta?.content) {
    told = true;
    console.log('streaming');
  }
}
