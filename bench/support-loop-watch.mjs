// Loaded into the agent before its program: says of each late beat of the event loop what the main thread did meanwhile. A
// process that is late has worked, has waited for a processor that others had, or neither, when the machine itself stood still.
import { appendFileSync, readFileSync } from 'node:fs';

const everyMs = 5;
const lateMs = 10;
const schedule = `/proc/self/task/${process.pid}/schedstat`;

function look() {
  const [worked = 0, waited = 0] = readFileSync(schedule, 'utf8')
    .split(' ')
    .map((text) => Number(text) / 1e6);
  // The one clock that all processes of the machine have in common.
  return { atMs: Number(process.hrtime.bigint()) / 1e6, worked, waited };
}

let last = look();
let late = '';
setInterval(() => {
  const now = look();
  const { atMs } = now;
  const ms = atMs - last.atMs - everyMs;
  if (ms >= lateMs) {
    late += `${JSON.stringify({ atMs, ms, workedMs: now.worked - last.worked, waitedMs: now.waited - last.waited })}\n`;
  }
  last = now;
}, everyMs).unref();
setInterval(() => {
  if (late !== '') appendFileSync(process.env.TUBELET_LOOP_WATCH, late);
  late = '';
}, 1_000).unref();
