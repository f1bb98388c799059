import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { systemClock } from '../../src/base/system-clock.ts';
import type { FuzzWorld } from './world.ts';

/** How many there are of everything that clients could leave behind. */
type Inventory = Readonly<Record<string, number>>;

const clock = systemClock();
const lookMs = 50;
/** Of Node's own; its timers are not among them, because those of the clients are its too. */
const resources = /^(TCP|TLS|Pipe|Process|FSEvent|HTTP)/;

export function inventoryOf(world: FuzzWorld): Inventory {
  const counts: Record<string, number> = {
    'timers of the agent': world.clock.pending(),
    'requests under way': world.underWay(),
    'streams of the runtime': world.runtime.open,
    'listeners on what lives long': world.listeners() + listenersOf(process),
    'files on disk': world.filesOnDisk(),
    'open files': openFiles(),
  };
  for (const kind of process.getActiveResourcesInfo()) if (resources.test(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The event loop has some of its own, which it opens when it first needs them. */
const ofTheLoop = /^anon_inode:|^\/dev\/null$/;

/** Files, sockets and pipes. */
function openFiles(): number {
  let count = 0;
  for (const descriptor of readdirSync('/proc/self/fd')) {
    const path = `/proc/self/fd/${descriptor}`;
    // The folder itself was open while it was read.
    if (lstatSync(path, { throwIfNoEntry: false }) && !ofTheLoop.test(readlinkSync(path))) count++;
  }
  return count;
}

function listenersOf(emitter: NodeJS.EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

/** Of what there is more than before, once it does not become less any more. */
export async function leftSince(before: Inventory, world: FuzzWorld, settleMs: number): Promise<readonly string[]> {
  const until = clock.monotonic() + settleMs;
  for (;;) {
    const now = Object.entries(inventoryOf(world));
    const more = now.filter(([what, count]) => count > (before[what] ?? 0));
    if (more.length === 0 || clock.monotonic() > until)
      return more.map(([what, count]) => `${what}: ${count} are left, before there were ${before[what] ?? 0}`);
    await clock.sleep(lookMs);
  }
}
