import type { CallOptions } from '../../base/call.ts';
import type { Log } from '../../base/log.ts';
import type { ContainerStatusRequest, ContainerStatusResponse } from '../../gen/cri/api.ts';
import { readTerminationMessage, type TerminationMessageFiles } from './read-termination-message.ts';

interface StatusRuntime {
  containerStatus(request: ContainerStatusRequest, options?: CallOptions): Promise<ContainerStatusResponse>;
}

/** A runtime whose container statuses carry the termination message of a container that has ended. */
export function withTerminationMessages<R extends StatusRuntime>(
  runtime: R,
  files: TerminationMessageFiles,
  log: Log,
): R {
  return {
    ...runtime,
    async containerStatus(request, options) {
      const answer = await runtime.containerStatus(request, options);
      if (answer.status === undefined) return answer;
      return {
        ...answer,
        status: { ...answer.status, message: await readTerminationMessage({ files, log }, answer.status) },
      };
    },
  };
}
