// A proxy between a client and the gateway that writes down each attempt: when it came, what the
// client said about retries, and what it was answered.
import http from 'node:http';
import {performance} from 'node:perf_hooks';

export async function start_recorder(server) {
  const attempts = [];
  const proxy = http.createServer((request, response) => {
    const attempt = {at_ms: performance.now(),
                     retry_count: request.headers['x-stainless-retry-count']};
    attempts.push(attempt);
    const onward = http.request({
      host: '127.0.0.1', port: server.port, path: request.url, method: request.method,
      headers: request.headers,
    }, (answer) => {
      attempt.status = answer.statusCode;
      attempt.headers = answer.headers;
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    attempts, url: `http://127.0.0.1:${proxy.address().port}`,
    stop: () => { proxy.closeAllConnections(); proxy.close(); },
  };
}
