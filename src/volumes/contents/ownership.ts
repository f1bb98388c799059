import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { allContainers } from '../../model/containers.ts';
import { effectiveSecurityContext } from '../../model/security-context.ts';
import type { DecideAccess, FileFacts } from '../ports.ts';

const setGid = 0o2000;
const readWriteBits = 0o660;
const readOnlyBits = 0o440;
const enterBits = 0o110;

/** Which group a volume is for, and whether its members may write to it. */
export interface VolumeGroup {
  readonly gid: number;
  readonly readOnly: boolean;
}

/** The mode that lets a group at a file; folders hand the group on to what is made in them. */
export function groupMode(kind: FileFacts['kind'], mode: number, { readOnly }: VolumeGroup): number {
  const bits = readOnly ? readOnlyBits : readWriteBits;
  return kind === 'folder' ? mode | bits | enterBits | setGid : mode | bits;
}

/** Turns a tree over to a group. Links have no mode, and their targets are none of our business. */
export function forGroup(group: VolumeGroup): DecideAccess {
  return (entry) => {
    if (entry.kind === 'link') return entry.gid === group.gid ? undefined : { gid: group.gid };
    const mode = groupMode(entry.kind, entry.mode, group);
    return entry.gid === group.gid && entry.mode === mode ? undefined : { gid: group.gid, mode };
  };
}

/** With the policy OnRootMismatch a volume whose top is right counts as right all through. */
export function needsChange(policy: string | undefined, top: FileFacts, group: VolumeGroup): boolean {
  return policy !== 'OnRootMismatch' || forGroup(group)(top) !== undefined;
}

/** The user that all containers of a pod run as; nothing when they differ or leave it to their images. */
export function commonUser(spec: PodSpec): number | undefined {
  const users = new Set(
    allContainers(spec).map(({ container }) => effectiveSecurityContext({ spec }, container).runAsUser),
  );
  const [user] = users;
  return users.size === 1 ? user : undefined;
}
