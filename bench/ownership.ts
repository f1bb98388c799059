// A volume of 100,000 files is given to a group: the first time, again when all is right already, and after a tenth has
// changed; beside it chgrp and chmod over the same tree, which do the same to paths. In turns, in one process, on one disk;
// on a busy machine the ratio of CPU times says more than that of times.
import { execFileSync } from 'node:child_process';
import { lchownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/system-clock.ts';
import { changeTree } from '../src/host/change-tree.ts';
import { safeRemove } from '../src/host/safe-remove.ts';
import { forGroup } from '../src/volumes/contents/ownership.ts';
import { median, record } from './support.ts';

const { values: options } = parseArgs({
  options: {
    files: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
  },
});
const files = Number(options.files);
const rounds = Number(options.rounds);
const perFolder = 1_000;
const aims = { ratio: 2, pauseMs: 50 };

const clock = systemClock();
const never = new AbortController().signal;
const root = mkdtempSync('/var/tmp/tubelet-bench-ownership-');

interface Times {
  readonly ms: number;
  readonly cpuMs: number;
  readonly pauseMs: number;
}

/** Of this process and of all that it has waited for; the kernel counts in hundredths of a second. */
function cpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

async function timed(work: () => Promise<void> | void): Promise<Times> {
  const pauses = monitorEventLoopDelay({ resolution: 1 });
  pauses.enable();
  const [began, cpuBefore] = [clock.monotonic(), cpuMs()];
  await work();
  const ms = clock.monotonic() - began;
  pauses.disable();
  return { ms, cpuMs: cpuMs() - cpuBefore, pauseMs: pauses.max / 1e6 };
}

function each(step: number, act: (path: string) => void): void {
  for (let file = 0; file < files; file += step) act(join(root, `d${Math.floor(file / perFolder)}`, `f${file}`));
}

/** Programs see paths, we see descriptors; they need two walks, since none of them does both. */
function programs(gid: number): void {
  execFileSync('chgrp', ['-R', String(gid), root]);
  execFileSync('chmod', ['-R', 'g+rwX', root]);
}

const ours = (gid: number): Promise<void> => changeTree(root, forGroup({ gid, readOnly: false }), never);

try {
  for (let folder = 0; folder * perFolder < files; folder++) mkdirSync(join(root, `d${folder}`));
  each(1, (path) => writeFileSync(path, '', { mode: 0o600 }));
  const rows: Record<'first' | 'again' | 'tenth' | 'programsFirst' | 'programsAgain', Times[]> = {
    first: [],
    again: [],
    tenth: [],
    programsFirst: [],
    programsAgain: [],
  };
  for (let round = 0; round < rounds; round++) {
    const gid = 20_000 + 2 * round;
    execFileSync('chmod', ['-R', 'g-rwx', root]);
    rows.programsFirst.push(await timed(() => programs(gid)));
    rows.programsAgain.push(await timed(() => programs(gid)));
    execFileSync('chmod', ['-R', 'g-rwx', root]);
    rows.first.push(await timed(() => ours(gid + 1)));
    rows.again.push(await timed(() => ours(gid + 1)));
    each(10, (path) => lchownSync(path, 0, 0));
    rows.tenth.push(await timed(() => ours(gid + 1)));
  }
  const ms = (times: readonly Times[]): number => Math.round(median(times.map((time) => time.ms)));
  const cpu = (times: readonly Times[]): number => Math.round(median(times.map((time) => time.cpuMs)));
  const own = [...rows.first, ...rows.again, ...rows.tenth];
  const result = {
    files,
    rounds,
    firstMs: ms(rows.first),
    againMs: ms(rows.again),
    tenthMs: ms(rows.tenth),
    programsFirstMs: ms(rows.programsFirst),
    programsAgainMs: ms(rows.programsAgain),
    firstRatio: ms(rows.first) / ms(rows.programsFirst),
    againRatio: ms(rows.again) / ms(rows.programsAgain),
    firstCpuRatio: cpu(rows.first) / cpu(rows.programsFirst),
    againCpuRatio: cpu(rows.again) / cpu(rows.programsAgain),
    cpuMs: Object.fromEntries(Object.entries(rows).map(([name, times]) => [name, cpu(times)])),
    pauseMs: Math.round(Math.max(...own.map((time) => time.pauseMs))),
    load: loadavg()[0],
  };
  console.log(`${files} files: first ${result.firstMs} ms, again ${result.againMs} ms, a tenth ${result.tenthMs} ms`);
  console.log(`chgrp and chmod: first ${result.programsFirstMs} ms, again ${result.programsAgainMs} ms`);
  const { firstRatio, againRatio, firstCpuRatio, againCpuRatio, pauseMs } = result;
  console.log(`ratios: first ${firstRatio.toFixed(2)}, again ${againRatio.toFixed(2)} (aims ≤ ${aims.ratio})`);
  console.log(`of CPU: first ${firstCpuRatio.toFixed(2)}, again ${againCpuRatio.toFixed(2)} (aims ≤ ${aims.ratio})`);
  console.log(
    `longest pause of the event loop: ${pauseMs} ms (aim ≤ ${aims.pauseMs}); load ${result.load?.toFixed(1)}`,
  );
  record('ownership', { aims, result });
} finally {
  await safeRemove(root);
}
