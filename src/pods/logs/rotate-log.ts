import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { computeRotation, type RotationLimits } from './compute-rotation.ts';
import { logFields, type ContainerLog } from './container-log.ts';
import type { LogFiles, LogRuntime } from './ports.ts';
import { localStamp, rotatedName } from './rotated-name.ts';

interface RotateDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: LogFiles;
  readonly runtime: LogRuntime;
  readonly limits: RotationLimits;
}

/** Until the runtime answers, the container writes on into the renamed file. */
const reopenTimeoutMs = 10_000;

/** Rotates a log; returns the files that are to be compressed. */
export async function rotateLog(
  deps: RotateDeps,
  log: ContainerLog,
  size: number | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { clock, files, limits } = deps;
  const folder = dirname(log.path);
  const name = basename(log.path);
  const steps = computeRotation({
    log: name,
    size,
    files: await files.list(folder, name),
    limits,
    nowStamp: localStamp(clock.now()),
  });
  const toCompress: string[] = [];
  for (const step of steps) {
    switch (step.kind) {
      case 'remove':
        deps.log.debug(4, 'Removing container log', {
          ...logFields(log),
          path: join(folder, step.name),
          reason: step.why,
        });
        await files.remove(join(folder, step.name));
        break;
      case 'rename':
        await files.rename(log.path, join(folder, step.to));
        break;
      case 'reopen':
        await reopen(deps, log, step.renamed && join(folder, step.renamed), signal);
        break;
      case 'compress':
        toCompress.push(join(folder, step.name));
    }
  }
  return toCompress;
}

async function reopen(
  { files, runtime, log: agentLog }: RotateDeps,
  log: ContainerLog,
  renamed: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runtime.reopenContainerLog({ containerId: log.id }, { signal, timeoutMs: reopenTimeoutMs });
  } catch (error) {
    if (renamed === undefined) throw error;
    try {
      await files.renameBack(renamed, log.path);
    } catch (second) {
      if (!isKind(second, 'alreadyExists')) {
        const message = `${messageOf(error)}; and ${renamed} could not be put back: ${messageOf(second)}`;
        throw new TubeletError('internal', message, { cause: second });
      }
      // The runtime has reopened the log and only its answer was lost: the new file has newer lines.
      agentLog.debug(2, 'Container log was reopened although the runtime failed', {
        ...logFields(log),
        path: log.path,
      });
      return;
    }
    throw error;
  }
}

/** A listing of this length may be incomplete. */
const manyNames = 1_000;

/** Removes all files of a log, also unfinished ones; files of other instances in the same folder stay. */
export async function removeLog(files: Pick<LogFiles, 'list' | 'remove'>, path: string): Promise<void> {
  const folder = dirname(path);
  const name = basename(path);
  for (let isMore = true; isMore;) {
    const own = (await files.list(folder, name)).filter((other) => other === name || rotatedName(name, other));
    for (const other of own) await files.remove(join(folder, other));
    // Of very many only the last are listed.
    isMore = own.length >= manyNames;
  }
}
