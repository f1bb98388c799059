import type {
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandboxStatusResponse,
  VersionResponse,
} from '../gen/cri/api.ts';
import { isKind, TubeletError } from '../base/errors.ts';
import type { Invoke } from './invoke.ts';

/** Decorator: an unusable answer is a failure of the runtime, reported by the verb and not by a later reader. */
export function withCheckedAnswers(next: Invoke): Invoke {
  return async (invocation) => {
    const response = await next(invocation);
    const flaw = invocation.traits.flaw?.(response);
    if (flaw !== undefined) throw new TubeletError('internal', `the runtime's answer is unusable: ${flaw}`);
    return response;
  };
}

/**
 * Decorator: stopping or removing what does not exist succeeds. The interface demands it of runtimes, but containerd
 * 1.6 answers `NotFound`.
 */
export function withIdempotence(next: Invoke): Invoke {
  return async (invocation) => {
    const { notFoundIs } = invocation.traits;
    try {
      return await next(invocation);
    } catch (error) {
      if (notFoundIs !== undefined && isKind(error, 'notFound')) return notFoundIs;
      throw error;
    }
  };
}

/** The first requirement that is not met. */
function firstMissing(requirements: readonly (readonly [boolean, string])[]): string | undefined {
  const missing = requirements.find(([holds]) => !holds);
  return missing === undefined ? undefined : `${missing[1]} is not set`;
}

export function versionFlaw(response: VersionResponse): string | undefined {
  return firstMissing([
    [response.version !== '', 'version'],
    [response.runtimeName !== '', 'runtime_name'],
    [response.runtimeVersion !== '', 'runtime_version'],
    [response.runtimeApiVersion !== '', 'runtime_api_version'],
  ]);
}

export function sandboxStatusFlaw({ status }: PodSandboxStatusResponse): string | undefined {
  const metadata = status?.metadata;
  return firstMissing([
    [status !== undefined, 'status'],
    [status?.id !== '', 'status.id'],
    [metadata !== undefined, 'status.metadata'],
    [metadata?.name !== '' && metadata?.namespace !== '' && metadata?.uid !== '', 'name, namespace or uid'],
    [status?.createdAt !== 0n, 'status.created_at'],
  ]);
}

export function containerStatusFlaw({ status }: ContainerStatusResponse): string | undefined {
  return firstMissing([
    [status !== undefined, 'status'],
    [status?.id !== '', 'status.id'],
    [status?.metadata !== undefined && status.metadata.name !== '', 'status.metadata.name'],
    [status?.createdAt !== 0n, 'status.created_at'],
    [(status?.image?.image ?? '') !== '' && status?.imageRef !== '', 'status.image or status.image_ref'],
  ]);
}

export function imageStatusFlaw({ image }: ImageStatusResponse): string | undefined {
  if (image === undefined) return undefined;
  return firstMissing([
    [image.id !== '', 'image.id'],
    [image.size !== 0n, 'image.size'],
  ]);
}

/** For answers that consist of one id. */
export function textFlaw(name: string, text: string): string | undefined {
  return firstMissing([[text !== '', name]]);
}
