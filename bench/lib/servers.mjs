// Starts and stops the servers under test on free ports of the loopback address.
import {spawn} from 'node:child_process';
import {createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const tidegate_binary = process.env.TIDEGATE_BINARY ??
    path.join(root, 'build/release/bin/tidegate');

export function free_port() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const {port} = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// A running server: `url`, `child`, and stop(), which asks nicely and waits for the end.
class Server {
  constructor(child, port, log) {
    this.child = child;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.log = log;
    this.ended = new Promise((resolve) => child.on('exit', (code, signal) => {
      this.over = true;
      resolve({code, signal});
    }));
  }

  // Polls `route` until it answers 200.
  async ready(route, limit_ms) {
    const give_up = Date.now() + limit_ms;
    while (Date.now() < give_up) {
      if (this.over) throw new Error(`the server ended at start, see ${this.log}`);
      const answer = await fetch(this.url + route).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return this;
      await pause(100);
    }
    await this.stop('SIGKILL');
    throw new Error(`the server was not ready within ${limit_ms} ms, see ${this.log}`);
  }

  stop(signal = 'SIGTERM') {
    if (!this.over) this.child.kill(signal);
    return this.ended;
  }
}

async function start(command, args, log, route) {
  if (!existsSync(command)) throw new Error(`${command} is missing; build it first`);
  mkdirSync(path.dirname(log), {recursive: true});
  const port = await free_port();
  const child = spawn(command, args(port), {stdio: ['ignore', 'pipe', 'pipe']});
  const file = createWriteStream(log);
  child.stdout.pipe(file);
  child.stderr.pipe(file);
  return new Server(child, port, log).ready(route, 120_000);
}

export function start_tidegate({config, log}) {
  return start(tidegate_binary,
      (port) => ['serve', '--config', config, '--listen', `127.0.0.1:${port}`], log, '/readyz');
}

export function start_llama_server({binary, model, options, log}) {
  return start(binary,
      (port) => ['--model', model, '--host', '127.0.0.1', '--port', String(port), ...options], log,
      '/health');
}

// Runs the load generator as a process of its own and returns what it wrote down.
export async function run_load(plan, folder, name) {
  mkdirSync(folder, {recursive: true});
  const plan_file = path.join(folder, `${name}.plan.json`);
  const result_file = path.join(folder, `${name}.result.json`);
  writeFileSync(plan_file, JSON.stringify(plan));
  const child = spawn(process.execPath,
      [path.join(root, 'bench/lib/load.mjs'), plan_file, result_file], {stdio: 'inherit'});
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`the load generator ended with ${code}`);
  return JSON.parse(readFileSync(result_file, 'utf8'));
}
