import type {
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandboxStatusResponse,
  VersionResponse,
} from '../gen/cri/api.ts';
import { isKind, TubeletError } from '../base/errors.ts';
import type { Invoke } from './invoke.ts';

/** Decorator: an answer that nothing can be done with is a failure of the runtime, not of whoever reads it later. */
export function withCheckedAnswers(next: Invoke): Invoke {
  return async (invocation) => {
    const response = await next(invocation);
    const flaw = invocation.traits.flaw?.(response);
    if (flaw !== undefined) throw new TubeletError('internal', `the runtime's answer is unusable: ${flaw}`);
    return response;
  };
}

/**
 * Decorator: stopping or removing what is not there succeeds. The interface demands it of runtimes, and containerd 1.6
 * answers `NotFound` all the same.
 */
export function withIdempotence(next: Invoke): Invoke {
  return async (invocation) => {
    const { goneIs } = invocation.traits;
    try {
      return await next(invocation);
    } catch (error) {
      if (goneIs !== undefined && isKind(error, 'notFound')) return goneIs;
      throw error;
    }
  };
}

/** The first requirement that does not hold. */
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

/** For answers whose whole point is one id. */
export function textFlaw(name: string, text: string): string | undefined {
  return firstMissing([[text !== '', name]]);
}
