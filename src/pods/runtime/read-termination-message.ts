import { cutText } from '../../base/cut-text.ts';
import { isKind } from '../../base/errors.ts';
import type { Log, LogFields } from '../../base/log.ts';
import { ContainerState, type ContainerStatus } from '../../gen/cri/api.ts';
import {
  containerNameLabel,
  containerTerminationMessagePathAnnotation,
  containerTerminationMessagePolicyAnnotation,
  podNameLabel,
  podNamespaceLabel,
  podUidLabel,
} from '../../model/labels.ts';
import { podFields } from '../../model/pod-log.ts';
import {
  computeTerminationMessage,
  terminationLimits,
  wantsLogTail,
  type TailLimits,
} from '../../model/termination-message.ts';

export interface TerminationMessageFiles {
  /** The end of a file, at most `bytes` of it; kind `notFound` when there is none. */
  readEnd(path: string, bytes: number): Promise<string>;
  /** The end of a container's log without the runtime's prefixes. */
  readLogTail(path: string, limits: TailLimits): Promise<string>;
}

interface TerminationMessageDeps {
  readonly files: TerminationMessageFiles;
  readonly log: Log;
}

/**
 * The message of a container that has ended: what it wrote to its termination message file, or the end of its log where
 * its policy says so. The container could have put anything at that path, so only the beginning of the file is read, and
 * a file that cannot be read does not fail the observation.
 */
export async function readTerminationMessage(
  { files, log }: TerminationMessageDeps,
  status: ContainerStatus,
): Promise<string> {
  if (status.state !== ContainerState.CONTAINER_EXITED) return cutText(status.message);
  const { annotations, exitCode, reason, logPath } = status;
  const runtimeMessage = cutText(status.message);
  const path = annotations[containerTerminationMessagePathAnnotation];
  if (path === undefined || path === '') return runtimeMessage;
  const policy = annotations[containerTerminationMessagePolicyAnnotation] ?? 'File';
  const hostPath = status.mounts.find(({ containerPath }) => containerPath === path)?.hostPath;
  const readOptional = async (source: string, read: Promise<string>): Promise<string | undefined> => {
    try {
      return await read;
    } catch (error) {
      if (!isKind(error, 'notFound'))
        log.warn('Cannot read the termination message of a container', {
          ...fieldsOf(status),
          path: source,
          err: error,
        });
      return undefined;
    }
  };
  const fileContent =
    hostPath === undefined ? undefined : await readOptional(hostPath, files.readEnd(hostPath, terminationLimits.file));
  const known = { fileContent, policy, exitCode, reason, runtimeMessage };
  const limits = { lines: terminationLimits.logLines, bytes: terminationLimits.log };
  const logTail =
    wantsLogTail(known) && logPath !== '' ? await readOptional(logPath, files.readLogTail(logPath, limits)) : undefined;
  return computeTerminationMessage({ ...known, logTail });
}

/** The log fields of a container's pod, from its labels. */
function fieldsOf({ id, labels }: ContainerStatus): LogFields {
  const pod = { namespace: labels[podNamespaceLabel], name: labels[podNameLabel], uid: labels[podUidLabel] };
  return { ...podFields(pod), containerName: labels[containerNameLabel], containerID: id };
}
