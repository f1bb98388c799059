// Does nothing on one processor, ahead of everybody else, and says when even so it came late: then the machine stood still,
// or what it runs on had something else to do. Ends with its parent.
import { appendFileSync } from 'node:fs';

const [, , file] = process.argv;
const everyMs = 2;
const lateMs = 4;
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

let last = nowMs();
let late = '';
setInterval(() => {
  const atMs = nowMs();
  const ms = atMs - last - everyMs;
  if (ms >= lateMs) late += `${JSON.stringify({ atMs, ms })}\n`;
  last = atMs;
}, everyMs);
setInterval(() => {
  if (late !== '') appendFileSync(file, late);
  late = '';
}, 1_000);
process.stdin.on('end', () => process.exit()).resume();
