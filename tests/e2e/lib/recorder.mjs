// A proxy between a client and the gateway that writes down each attempt: when it came, what the
// client said about retries, and what it was answered. It stops when the test `t` ends, however
// that ends. An answer is passed on once `before_answer(attempt)` is done.
import http from 'node:http';
import {performance} from 'node:perf_hooks';

export async function start_recorder(t, server, before_answer = async () => {}) {
  const attempts = [];
  const proxy = http.createServer((request, response) => {
    const attempt = {at_ms: performance.now(),
                     retry_count: request.headers['x-stainless-retry-count']};
    attempts.push(attempt);
    const onward = http.request({
      host: '127.0.0.1', port: server.port, path: request.url, method: request.method,
      headers: request.headers,
    }, async (answer) => {
      attempt.status = answer.statusCode;
      attempt.headers = answer.headers;
      await before_answer(attempt).catch((error) => { attempt.error = error; });
      attempt.answered_ms = performance.now();
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => { proxy.closeAllConnections(); proxy.close(); });
  return {attempts, url: `http://127.0.0.1:${proxy.address().port}`};
}
