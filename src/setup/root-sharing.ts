import type { MountPropagation } from './ports.ts';

type Sharing =
  | { readonly kind: 'shared' }
  | { readonly kind: 'bind' }
  /** Mounts below would be hidden by a bind: `below` is one of them. */
  | { readonly kind: 'inUse'; readonly below: string };

/** Pure: what it takes that mounts made below a folder, here or in a container, are seen on both sides. */
export function sharingOf(root: string, mounts: readonly MountPropagation[]): Sharing {
  const holder = mounts.findLast(({ mountPoint }) => isAtOrAbove(mountPoint, root));
  if (holder?.optionalFields.some((field) => field.startsWith('shared:')) === true) return { kind: 'shared' };
  const below = mounts.find(({ mountPoint }) => mountPoint !== root && isAtOrAbove(root, mountPoint));
  return below === undefined ? { kind: 'bind' } : { kind: 'inUse', below: below.mountPoint };
}

function isAtOrAbove(point: string, path: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`);
}
