import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import { atomicWrite, hostFiles } from '../../host/index.ts';
import type { PodStatuses } from '../../pods/status/index.ts';
import { CheckpointFile, type CheckpointDisk } from '../../state/index.ts';

type Statuses = Readonly<Record<string, PodStatus>>;

const version = 1;
const mode = 0o600;

/** Only root reads it, and a machine that loses power has the old one or the new. */
export function checkpointDisk(random: Random): CheckpointDisk {
  return {
    read: (path) => hostFiles.readText(path),
    replace: (path, text) => atomicWrite(path, text, { mode, random }),
    putAside: (path) => rename(path, `${path}.damaged`),
  };
}

export interface StatusCheckpointDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly disk: CheckpointDisk;
  readonly rootDir: string;
  readonly statuses: () => PodStatuses;
  /** Whether the pod is worth remembering. */
  readonly wanted: (uid: PodUid) => boolean;
}

/**
 * Statuses outlive the agent: a restart keeps start and transition times, and whoever was ready stays so until a probe
 * says otherwise.
 */
export function statusCheckpoint({
  clock,
  log,
  disk,
  rootDir,
  statuses,
  wanted,
}: StatusCheckpointDeps): CheckpointFile<Statuses> {
  return new CheckpointFile<Statuses>('status-checkpoint', {
    clock,
    log,
    disk,
    path: join(rootDir, 'pod_statuses_state'),
    version,
    content: () => Object.fromEntries([...statuses().all()].filter(([uid]) => wanted(uid))),
  });
}

export async function restoreStatuses(checkpoint: CheckpointFile<Statuses>, statuses: PodStatuses): Promise<void> {
  const kept = await checkpoint.load();
  statuses.restore(Object.entries(kept ?? {}).map(([uid, status]) => [podUid(uid), status] as const));
}
