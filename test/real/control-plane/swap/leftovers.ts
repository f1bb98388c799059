import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceNames } from '../../../../src/up/index.ts';
import { cgroupValues } from './cgroup-values.ts';
import type { NodeLook } from './node-look.ts';

interface GonePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const tiers = ['kubepods', 'kubepods/burstable', 'kubepods/besteffort'];

/** What is left of a deleted pod in files, mounts and cgroups. */
export function filesLeft(look: NodeLook, names: InstanceNames, { uid }: GonePod): readonly string[] {
  const cgroups = tiers.flatMap((tier) => [...cgroupValues(join(names.cgroupRoot, tier, `pod${uid}`))]);
  return [
    ...look.mounts().filter((line) => line.includes(uid)),
    ...[join(names.kubeletRoot, 'pods', uid)].filter((path) => existsSync(path)),
    ...cgroups.filter(([, value]) => value === 'is there').map(([root]) => root),
  ];
}

/** What is left of it in the runtime, and its logs: the Go kubelet collects both once a minute only. */
export async function recordsLeft(look: NodeLook, names: InstanceNames, pod: GonePod): Promise<readonly string[]> {
  const held = [...(await look.sandboxes()), ...(await look.containers())];
  const logs = join(names.podLogs, `${pod.namespace}_${pod.name}_${pod.uid}`);
  return [
    ...held.filter(({ podUid }) => podUid === pod.uid).map(({ owner, id }) => `${owner} ${id}`),
    ...[logs].filter((path) => existsSync(path)),
  ];
}
