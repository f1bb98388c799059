import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { allContainers } from '../../model/containers.ts';
import type { FileFacts } from '../../model/file-facts.ts';
import { changeFor, type GroupAccess } from '../../model/group-access.ts';
import { effectiveSecurityContext } from '../../model/security-context.ts';

const setGid = 0o2000;
const readWriteBits = 0o660;
const readOnlyBits = 0o440;
const enterBits = 0o110;

/** Which group a volume is for, and whether its members may write to it. */
export interface VolumeGroup {
  readonly gid: number;
  readonly readOnly: boolean;
}

/** Owner and bits for a group; the setgid bit of folders passes the group on to new files. */
export function forGroup({ gid, readOnly }: VolumeGroup): GroupAccess {
  const fileBits = readOnly ? readOnlyBits : readWriteBits;
  return { gid, fileBits, folderBits: fileBits | enterBits | setGid };
}

/** The mode with which a group may use a file. */
export function groupMode(kind: FileFacts['kind'], mode: number, group: VolumeGroup): number {
  const { fileBits, folderBits } = forGroup(group);
  return mode | (kind === 'folder' ? folderBits : fileBits);
}

/** With the policy OnRootMismatch only the top folder is checked. */
export function needsChange(policy: string | undefined, top: FileFacts, group: VolumeGroup): boolean {
  return policy !== 'OnRootMismatch' || changeFor(forGroup(group), top) !== undefined;
}

/** The user that all containers of a pod run as; undefined when they differ or leave it to their images. */
export function commonUser(spec: PodSpec): number | undefined {
  const users = new Set(
    allContainers(spec).map(({ container }) => effectiveSecurityContext({ spec }, container).runAsUser),
  );
  const [user] = users;
  return users.size === 1 ? user : undefined;
}
