import { TubeletError } from '../../base/errors.ts';
import type { DownwardAPIVolumeFile } from '../../gen/kubernetes/types.ts';
import { findContainer } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { containerResourceValue, podFieldValue, type FieldValue } from '../../model/field-ref.ts';
import type { NodeFacts } from '../../model/runtime-settings.ts';
import { allOrNothing } from './problems.ts';
import type { Payload, PayloadFile } from './payload.ts';

export interface DownwardFacts {
  readonly node: Pick<NodeFacts, 'allocatable'>;
  readonly nodeName: string;
  readonly hostIps: () => readonly string[];
}

/** A pod's own fields and resources as files. The error has all items that cannot be resolved. */
export function downwardPayload(
  pod: DesiredPod,
  items: readonly DownwardAPIVolumeFile[],
  defaultMode: number,
  facts: DownwardFacts,
): Payload {
  const problems: string[] = [];
  const files = new Map<string, PayloadFile>();
  for (const item of items) {
    const found = valueOf(pod, item, facts);
    if ('problem' in found) problems.push(found.problem);
    else files.set(item.path, { content: Buffer.from(found.value, 'utf8'), mode: item.mode ?? defaultMode });
  }
  return allOrNothing(files, problems, (message) => new TubeletError('invalid', message));
}

function valueOf(pod: DesiredPod, item: DownwardAPIVolumeFile, { node, nodeName, hostIps }: DownwardFacts): FieldValue {
  if (item.fieldRef !== undefined) {
    const podIps = (pod.status.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
    return podFieldValue({ pod, podIps, hostIps: hostIps(), nodeName }, item.fieldRef.fieldPath);
  }
  const selector = item.resourceFieldRef;
  if (selector === undefined) return { problem: `downward file ${item.path} has no source` };
  const name = selector.containerName ?? '';
  const container = findContainer(pod.spec, name)?.container;
  return container === undefined
    ? { problem: `container ${name} not found` }
    : containerResourceValue(pod, container, selector, node);
}
