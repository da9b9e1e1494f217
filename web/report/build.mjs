// node build.mjs OUTPUT: bundles src/ with its plot library and style into one HTML file that
// fetches nothing. The page's policy lets no other script run than the one bundled here.
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) {
  console.error('usage: node build.mjs OUTPUT');
  process.exit(2);
}

const NOTICE = '/* Plots: Apache ECharts, Copyright 2017-2026 The Apache Software Foundation, ' +
  'Apache License 2.0; with zrender, BSD 3-Clause. */\n';

const bundle = await build({
  root: here,
  configFile: false,
  logLevel: 'warn',
  build: {
    write: false,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {input: join(here, 'src/main.js'), output: {format: 'iife'}},
  },
});
const parts = [bundle].flat()[0].output;
const code = parts.find((part) => part.type === 'chunk').code;
const style = parts.find((part) => part.fileName.endsWith('.css')).source;

// A script element ends at the first "</script", wherever it stands, and "<!--" changes how the
// rest of it is read.
const script = '\n' + NOTICE + code.replace(/<(?=\/script|!--)/gi, '\\x3c');
const hash = 'sha256-' + createHash('sha256').update(script).digest('base64');

const fill = {SCRIPT: script, STYLE: style, SCRIPT_HASH: hash};
const page = readFileSync(join(here, 'index.html'), 'utf8')
  .replace(/%(SCRIPT_HASH|SCRIPT|STYLE)%/g, (_, name) => fill[name]);
writeFileSync(output, page);
