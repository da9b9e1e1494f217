// Bytes to the server and back without any HTTP library in between.
import net from 'node:net';

export function connect(server) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(server.port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

// Everything the server sends until it closes; a reset counts as a close.
export function read_all(socket) {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (part) => { text += part; });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

// Sends the bytes and returns what came back until the server closed.
export async function exchange(server, bytes) {
  const socket = await connect(server);
  const answer = read_all(socket);
  socket.write(bytes);
  return answer;
}

export const status_of = (answer) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
