// A server whose answers have no end. Prints its port; ends with its standard input.
import { createServer } from 'node:net';

const maxMs = 120_000;
const kind = process.argv[2] ?? 'body';
const heads = {
  body: 'HTTP/1.1 200 OK\r\n\r\n',
  informational: '',
  headers: 'HTTP/1.1 200 OK\r\n',
};
const pieces = {
  body: 'x'.repeat(64 * 1024),
  informational: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000),
  headers: `X-A: ${'y'.repeat(1_000)}\r\n`.repeat(20),
};

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write(heads[kind]);
    const more = () => {
      while (!socket.destroyed) if (!socket.write(pieces[kind])) return;
    };
    socket.on('drain', more);
    more();
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
setTimeout(() => process.exit(0), maxMs).unref();
process.stdin.on('end', () => process.exit(0)).resume();
