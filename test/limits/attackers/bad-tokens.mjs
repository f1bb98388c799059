// Asks with a different bad token each time, with so many requests at a time on each of some HTTP/2 connections.
//
//   node bad-tokens.mjs PORT CONNECTIONS AT_ONCE FROM HOLD_MS
import { randomUUID } from 'node:crypto';
import { connect } from 'node:http2';

const [port, connections, atOnce, from = '', holdMs] = process.argv.slice(2);
const report = { asked: 0, failed: 0, statuses: {} };
const until = performance.now() + Number(holdMs);

const open = () =>
  connect(`https://127.0.0.1:${port}`, { localAddress: from, rejectUnauthorized: false }).on('error', () => {});

function ask(session) {
  return new Promise((resolve) => {
    report.asked++;
    const stream = session.request({ ':path': '/pods', authorization: `Bearer ${randomUUID()}` });
    stream.on('response', (headers) => {
      const status = headers[':status'];
      report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    });
    stream.on('error', () => report.failed++);
    stream.on('close', () => setTimeout(resolve, 20));
    stream.resume();
  });
}

async function attack() {
  let session = open();
  await Promise.all(
    Array.from({ length: Number(atOnce) }, async () => {
      while (performance.now() < until) {
        if (session.closed || session.destroyed) session = open();
        await ask(session);
      }
    }),
  );
}

setTimeout(() => process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0)), Number(holdMs));
await Promise.all(Array.from({ length: Number(connections) }, attack));
