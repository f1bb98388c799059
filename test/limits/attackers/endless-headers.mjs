// Opens TLS connections to a port, and sends on each of them the headers of one request, which never end.
//
//   node endless-headers.mjs PORT PROTOCOL COUNT BYTES FROM HOLD_MS      (PROTOCOL: http/1.1 or h2)
import { connect } from 'node:tls';

const [port, protocol = '', count, bytes, from = '', holdMs] = process.argv.slice(2);
const report = { connected: 0, sentBytes: 0, maxSentBytes: 0, ended: 0 };
const piece = 1_024;

const http1 = {
  begin: Buffer.from('GET /pods HTTP/1.1\r\nHost: node\r\n'),
  *pieces() {
    for (let n = 0; ; n++) yield Buffer.from(`X-${n}: ${'a'.repeat(piece)}\r\n`);
  },
};

const frame = (type, flags, stream, payload) => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
// A literal header that is not indexed: a name of one letter, a value of 126 bytes without Huffman code.
const field = Buffer.concat([Buffer.from([0x00, 0x01, 0x78, 0x7e]), Buffer.alloc(126, 0x61)]);
const block = Buffer.concat(Array.from({ length: (8 * piece) / field.length }, () => field));
const http2 = {
  begin: Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, 0, 1, Buffer.from([0x82, 0x84, 0x87])),
  ]),
  *pieces() {
    for (;;) yield frame(9, 0, 1, block);
  },
};

function attack() {
  return new Promise((resolve) => {
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      localAddress: from,
      ALPNProtocols: [protocol],
      rejectUnauthorized: false,
    });
    const pieces = (protocol === 'h2' ? http2 : http1).pieces();
    let sent = 0;
    const send = () => {
      while (!socket.destroyed && sent < Number(bytes)) {
        const words = pieces.next().value;
        sent += words.length;
        if (!socket.write(words)) {
          socket.once('drain', send);
          return;
        }
      }
    };
    socket.on('secureConnect', () => {
      report.connected++;
      socket.write((protocol === 'h2' ? http2 : http1).begin);
      send();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      report.ended++;
      report.sentBytes += sent;
      report.maxSentBytes = Math.max(report.maxSentBytes, sent);
      resolve();
    });
    socket.resume();
    setTimeout(() => socket.destroy(), Number(holdMs)).unref();
  });
}

const timer = setTimeout(() => {}, Number(holdMs) + 1_000);
await Promise.all(Array.from({ length: Number(count) }, attack));
clearTimeout(timer);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
