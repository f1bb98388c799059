import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { grpcErrorText, TubeletError } from '../../base/errors.ts';
import { findContainer } from '../../model/containers.ts';
import { podFields } from '../../model/pod-log.ts';
import { json, text, type Handler } from '../route.ts';
import { findPod, inspectTarget, runningContainer } from '../streaming/find-target.ts';
import type { CheckpointFolders } from '../streaming/ports.ts';
import { parseCheckpointTimeout } from '../streaming/session-options.ts';
import type { SessionDeps } from '../streaming/session.ts';

interface CheckpointDeps extends SessionDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** The agent's root directory. */
  readonly rootDir: string;
  readonly folders: CheckpointFolders;
}

/** Memory of processes is in it: for root's eyes only. */
const folderMode = 0o700;

/** `/checkpoint`: the whole state of a running container, written to a file on this node. */
export function checkpointHandler(deps: CheckpointDeps): Handler {
  return async (request) => {
    const { params, query, signal } = request;
    const pod = findPod(deps.pods, params);
    if ('kind' in pod) return pod;
    const asked = params['container'] ?? '';
    const name = findContainer(pod.spec, asked)?.container.name;
    if (name === undefined) return text(404, `container ${asked} does not exist`);
    const timeout = parseCheckpointTimeout(query);
    if ('refusal' in timeout) return text(404, timeout.refusal);
    try {
      const rule = { ...runningContainer(name), missing: `container ${name} not found` };
      const containerId = await inspectTarget(deps.pods, pod, rule, signal);
      const folder = join(deps.rootDir, 'checkpoints');
      await deps.folders.makeFolder(folder, folderMode);
      const location = join(folder, checkpointFile(pod.fullName, name, deps.clock.now()));
      await deps.runtime.checkpointContainer({ containerId, location, timeout: timeout.value }, { signal });
      return json({ items: [location] });
    } catch (error) {
      if (!(error instanceof TubeletError)) deps.log.error(error, 'A checkpoint failed', podFields(pod));
      return text(500, `checkpointing of ${pod.namespace}/${pod.name}/${name} failed (${grpcErrorText(error)})`);
    }
  };
}

/** Names of pods and containers are those of the spec, which hold no slashes. */
function checkpointFile(fullName: string, container: string, wallMs: number): string {
  const time = new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return `checkpoint-${fullName}-${container}-${time}.tar`;
}
