import { readFileSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/system-random.ts';
import type { Settings } from '../../config/index.ts';
import { atomicWrite, hostFiles, processStartTicks, wasKilledForMemory } from '../../host/index.ts';
import { RunMarkerFile } from '../../state/index.ts';

const rootMode = 0o750;
/** The engine's report contains the environment of the agent. */
const folderMode = 0o700;
const fileMode = 0o600;
const fatalErrorFile = 'fatal-error.json';

/** The marker that shows the next start how this run ended; the engine writes its report into the same folder. */
export function runMarker({ flags }: Pick<Settings, 'flags'>, clock: Clock, log: Log): RunMarkerFile {
  const folder = join(flags.rootDir, 'run-marker');
  const random = systemRandom();
  reportFatalErrors(folder);
  return new RunMarkerFile({
    log,
    path: join(folder, 'running.json'),
    fatalErrorPath: join(folder, fatalErrorFile),
    disk: {
      read: (path) => hostFiles.readText(path),
      replace: async (path, text) => {
        await hostFiles.makeFolder(flags.rootDir, rootMode);
        await hostFiles.makeFolder(folder, folderMode);
        await atomicWrite(path, text, { mode: fileMode, random });
      },
      remove: removeFile,
    },
    self: {
      pid: process.pid,
      startTicks: processStartTicks(process.pid) ?? 0,
      startedAt: new Date(clock.now()).toISOString(),
      bootId: bootId(),
      uptimeSeconds: uptime(),
      heapLimitMb: Math.round(getHeapStatistics().heap_size_limit / 2 ** 20),
    },
    isRunning: ({ pid, startTicks }) => pid !== process.pid && processStartTicks(pid) === startTicks,
    killedByKernel: ({ pid, uptimeSeconds }) => wasKilledForMemory(pid, uptimeSeconds),
  });
}

/** An engine that aborts runs no code of ours any more, but can be configured beforehand to write a report. */
function reportFatalErrors(folder: string): void {
  const { report } = process;
  if (report === undefined) return;
  report.directory = folder;
  report.filename = fatalErrorFile;
  report.compact = true;
  report.reportOnFatalError = true;
  // The report would resolve the names of all peers, and wait for the answers. The types do not know this setting yet.
  Object.assign(report, { excludeNetwork: true });
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // A kernel without a boot id: whether the machine restarted is then unknown.
    return '';
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
