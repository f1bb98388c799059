// Loaded into the agent before its program: says of each late beat of the event loop what the main thread did meanwhile. A
// process that is late has worked, has waited for a processor that others had, or neither, when the machine itself stood still.
// Of a time without late beats it tells the latest one, so that a loop that was in time is not taken for one nobody watched.
import { appendFileSync, readFileSync } from 'node:fs';

const everyMs = 5;
const lateMs = 10;
/** How often at least something is told. */
const tellMs = 100;
const schedule = `/proc/self/task/${process.pid}/schedstat`;

function look() {
  const [worked = 0, waited = 0] = readFileSync(schedule, 'utf8')
    .split(' ')
    .map((text) => Number(text) / 1e6);
  // The one clock that all processes of the machine have in common.
  return { atMs: Number(process.hrtime.bigint()) / 1e6, worked, waited };
}

let last = look();
let told = '';
let toldAtMs = last.atMs;
let latest;
function tell(beat) {
  told += `${JSON.stringify(beat)}\n`;
  toldAtMs = beat.atMs;
  latest = undefined;
}
setInterval(() => {
  const now = look();
  const { atMs } = now;
  const ms = Math.max(0, atMs - last.atMs - everyMs);
  const beat = { atMs, ms, workedMs: now.worked - last.worked, waitedMs: now.waited - last.waited };
  last = now;
  if (latest === undefined || ms > latest.ms) latest = beat;
  if (ms >= lateMs) tell(beat);
  else if (atMs - toldAtMs >= tellMs) tell(latest);
}, everyMs).unref();
setInterval(() => {
  if (told !== '') appendFileSync(process.env.TUBELET_LOOP_WATCH, told);
  told = '';
}, 1_000).unref();
