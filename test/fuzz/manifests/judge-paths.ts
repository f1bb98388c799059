import type { CreateContainerRequest, RunPodSandboxRequest } from '../../../src/gen/cri/api.ts';
import type { Played, Request } from './played.ts';

/** Where the agent has files of its own. */
const roots = ['/var/lib/kubelet', '/var/log/pods', '/var/log/containers'];
/** What it reads of the node. */
const nodeFiles = new Set(['/etc/hosts', '/etc/resolv.conf']);
/** Environment and command may have 2 MiB each, and a value that is no text goes out twice; a runtime takes 16 MiB. */
const maxRequestSize = 8 << 20;
const maxNodes = 200_000;

const isBelow = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);

/** Why nobody should go to such a path, wherever it leads. */
function wrongPath(path: string): string | undefined {
  if (path.includes('\0')) return 'has a zero byte';
  if (path.split('/').includes('..')) return 'goes back up';
  return path.startsWith('/') ? undefined : 'is not absolute';
}

const isAllowed = (path: string, hostPaths: readonly string[]): boolean =>
  roots.some((root) => isBelow(path, root)) ||
  nodeFiles.has(path) ||
  hostPaths.some((given) => isBelow(path, given.replace(/(.)\/+$/, '$1')));

/** What is wrong with the paths that were read, written or removed. */
export function judgePaths(played: Pick<Played, 'touches' | 'hostPaths'>): readonly string[] {
  const problems = played.touches.flatMap(({ operation, path }) => {
    const wrong = wrongPath(path) ?? (isAllowed(path, played.hostPaths) ? undefined : 'is none of the agent');
    return wrong === undefined ? [] : [`${operation}: a path ${wrong}: ${JSON.stringify(path.slice(0, 200))}`];
  });
  return [...new Set(problems)];
}

/** What is wrong with a request that the runtime got. */
export function judgeRequest({ verb, request }: Request, { hostPaths }: Pick<Played, 'hostPaths'>): readonly string[] {
  const problems: string[] = [];
  const size = sizeOf(request);
  if (size > maxRequestSize) problems.push(`${verb}: a request of ${size} characters`);
  const wrongAt = (what: string, path: string, isWrong: string | undefined): void => {
    if (isWrong !== undefined) problems.push(`${verb}: ${what} ${isWrong}: ${JSON.stringify(path.slice(0, 200))}`);
  };
  const absolute = (what: string, path: string, extra: readonly string[] = []): void =>
    wrongAt(what, path, wrongPath(path) ?? (isAllowed(path, extra) ? undefined : 'is none of the agent'));
  const name = (what: string, text: string): void => wrongAt(what, text, /[\0/]/.test(text) ? 'is no name' : undefined);
  if (verb === 'runPodSandbox') {
    const { config } = request as RunPodSandboxRequest;
    absolute('log directory', config?.logDirectory ?? '');
    name('hostname', config?.hostname ?? '');
    for (const part of [config?.metadata?.name, config?.metadata?.uid, config?.metadata?.namespace])
      name('metadata', part ?? '');
  }
  if (verb === 'createContainer') {
    const { config } = request as CreateContainerRequest;
    const logPath = config?.logPath ?? '';
    wrongAt('log path', logPath, wrongPath(`/${logPath}`) ?? (logPath.startsWith('/') ? 'is absolute' : undefined));
    name('name', config?.metadata?.name ?? '');
    for (const { hostPath, image } of config?.mounts ?? []) {
      if (image === undefined || hostPath !== '') absolute('mount', hostPath, hostPaths);
    }
  }
  return problems;
}

/** Letters of all texts, and one for each value; not looked at any further where it is large. */
function sizeOf(value: unknown, budget = { nodes: maxNodes }): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value !== 'object' || value === null || budget.nodes-- <= 0) return 1;
  let size = 1;
  for (const [key, part] of Object.entries(value)) size += key.length + sizeOf(part, budget);
  return size;
}
