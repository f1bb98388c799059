// Holds connections on which it says nothing: bare TCP ones, or some after their TLS handshake. One that the server ends
// is opened anew a second later, for as long as the attack lasts.
//
//   node silent-connections.mjs PORT tcp|tls COUNT FROM HOLD_MS
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';

const [port, kind = '', count, from = '', holdMs] = process.argv.slice(2);
const report = { opened: 0, endedByServer: 0, refused: 0, maxHeld: 0 };
const to = { host: '127.0.0.1', port: Number(port), localAddress: from };
const again = 1_000;
const atOnce = 200;
const attackUntil = performance.now() + Number(holdMs);
let held = 0;
let opening = 0;
let waiting = Number(count);

function open() {
  opening++;
  waiting--;
  const socket =
    kind === 'tls' ? connectTls({ ...to, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }) : connectPlain(to);
  let isHeld = false;
  socket.once(kind === 'tls' ? 'secureConnect' : 'connect', () => {
    isHeld = true;
    opening--;
    held++;
    report.opened++;
    report.maxHeld = Math.max(report.maxHeld, held);
    fill();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (isHeld) held--;
    else opening--;
    if (isHeld) report.endedByServer++;
    else report.refused++;
    setTimeout(() => {
      waiting++;
      fill();
    }, again).unref();
    fill();
  });
  socket.resume();
}

function fill() {
  while (waiting > 0 && opening < atOnce && performance.now() < attackUntil) open();
}

fill();
setTimeout(() => process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0)), Number(holdMs));
