import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { allContainers } from '../../model/containers.ts';
import { changeFor, type GroupAccess } from '../../model/group-access.ts';
import { effectiveSecurityContext } from '../../model/security-context.ts';
import type { FileFacts } from '../ports.ts';

const setGid = 0o2000;
const readWriteBits = 0o660;
const readOnlyBits = 0o440;
const enterBits = 0o110;

/** Which group a volume is for, and whether its members may write to it. */
export interface VolumeGroup {
  readonly gid: number;
  readonly readOnly: boolean;
}

/** How a tree is turned over to a group; folders hand the group on to what is made in them. */
export function forGroup({ gid, readOnly }: VolumeGroup): GroupAccess {
  const fileBits = readOnly ? readOnlyBits : readWriteBits;
  return { gid, fileBits, folderBits: fileBits | enterBits | setGid };
}

/** The mode that lets a group at a file. */
export function groupMode(kind: FileFacts['kind'], mode: number, group: VolumeGroup): number {
  const { fileBits, folderBits } = forGroup(group);
  return mode | (kind === 'folder' ? folderBits : fileBits);
}

/** With the policy OnRootMismatch a volume whose top is right counts as right all through. */
export function needsChange(policy: string | undefined, top: FileFacts, group: VolumeGroup): boolean {
  return policy !== 'OnRootMismatch' || changeFor(forGroup(group), top) !== undefined;
}

/** The user that all containers of a pod run as; nothing when they differ or leave it to their images. */
export function commonUser(spec: PodSpec): number | undefined {
  const users = new Set(
    allContainers(spec).map(({ container }) => effectiveSecurityContext({ spec }, container).runAsUser),
  );
  const [user] = users;
  return users.size === 1 ? user : undefined;
}
