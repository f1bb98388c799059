import type { SandboxId } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** Whether the pod's sandbox can be used as it is; if not, the attempt of the next one, and why. */
type SandboxChange =
  | { readonly kind: 'keep'; readonly id: SandboxId }
  | { readonly kind: 'replace'; readonly attempt: number; readonly reason: string };

export function computeSandboxChange(
  pod: Pick<DesiredPod, 'spec'>,
  observed: Pick<ObservedPod, 'sandboxes'>,
): SandboxChange {
  const [newest] = observed.sandboxes;
  if (newest === undefined) return { kind: 'replace', attempt: 0, reason: 'there is no sandbox' };
  const attempt = newest.attempt + 1;
  const ready = observed.sandboxes.filter((sandbox) => sandbox.state === 'ready').length;
  if (ready > 1) return { kind: 'replace', attempt, reason: 'more than one sandbox is ready' };
  if (newest.state !== 'ready') return { kind: 'replace', attempt, reason: 'the sandbox is not ready' };
  const wantsNode = pod.spec.hostNetwork === true;
  if (wantsNode !== (newest.network === 'node')) {
    return { kind: 'replace', attempt, reason: 'the network namespace of the spec is another one' };
  }
  if (!wantsNode && newest.networkKnown && newest.ips.length === 0) {
    return { kind: 'replace', attempt, reason: 'the sandbox has no address' };
  }
  return { kind: 'keep', id: newest.id };
}
