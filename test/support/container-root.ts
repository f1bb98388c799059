import { readdirSync, readFileSync } from 'node:fs';
import type { Pod } from '../../src/gen/kubernetes/types.ts';

/** The files of a running container as its own processes see them, mounts and all. */
export function containerRoot(pod: Pod, container: string): string {
  const status = pod.status?.containerStatuses?.find(({ name }) => name === container);
  const id = status?.containerID?.replace(/^.*:\/\//, '');
  if (id === undefined) throw new Error(`container ${container} has no id`);
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && cgroupsOf(name).includes(id));
  if (pid === undefined) throw new Error(`container ${container} has no process`);
  return `/proc/${pid}/root`;
}

/** Nothing for a process that has ended meanwhile. */
function cgroupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
