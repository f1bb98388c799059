/** Where a process is in the trees of cgroups: controller → path, the tree of version 2 under the empty name. */
export type ProcessCgroups = ReadonlyMap<string, string>;

/** /proc/<pid>/cgroup: lines `4:cpu,cpuacct:/path`, and `0::/path` for version 2. */
export function processCgroupsIn(text: string): ProcessCgroups {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [id, rest] = cut(line);
    const [controllers, path] = cut(rest ?? '');
    if (!/^\d+$/.test(id) || path === undefined || !path.startsWith('/')) continue;
    for (const controller of controllers.split(',')) paths.set(controller, path);
  }
  return paths;
}

/** The parts before and behind the first colon: paths and names may have more of them. */
function cut(text: string): readonly [before: string, behind: string | undefined] {
  const at = text.indexOf(':');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * The one cgroup that accounts for a process, or why there is none. With systemd every process has a cgroup in its tree,
 * whether or not CPU and memory are counted there.
 */
export function accountedCgroup(
  paths: ProcessCgroups,
  version: 1 | 2,
): { readonly path: string } | { readonly problem: string } {
  if (version === 2) {
    const path = paths.get('');
    return path === undefined ? { problem: 'the process is in no cgroup of version 2' } : { path };
  }
  const [cpu, memory] = [paths.get('cpu'), paths.get('memory')];
  if (cpu === undefined || memory === undefined) return { problem: 'the process is in no cgroup for cpu and memory' };
  if (cpu !== memory)
    return { problem: `cpu and memory cgroup hierarchy not unified.  cpu: ${cpu}, memory: ${memory}` };
  return { path: paths.get('name=systemd') ?? cpu };
}
