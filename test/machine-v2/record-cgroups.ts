import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RealNode } from '../support/real-node.ts';
import { idle, podOf, shell, SharedFolder } from '../support/real-pods.ts';
import { until } from '../support/real-wait.ts';

const mount = '/sys/fs/cgroup';
/** What a reader of usage and limits may ask for. */
const files =
  /^(?:cgroup\.(?:controllers|procs)|cpu\.(?:stat|weight|max)|io\.stat|pids\.(?:current|max)|memory\.(?:current|peak|max|high|low|stat|events|swap\.current|swap\.max))$/;

/** Burns CPU until it is throttled, holds 20 MiB, writes past its limit, and has a child that the kernel ends for its memory. */
const work = [
  'held=$(head -c 20971520 /dev/zero | tr "\\0" a)',
  'head -c 16777216 /dev/urandom >/shared/random',
  'dd if=/dev/zero of=/tmp/zeros bs=1M count=80',
  'sync',
  'head -c 83886080 /dev/zero | tail -n 1',
  'touch /shared/done',
  idle,
].join('; ');

const readme = `Recorded by \`npm run machine-v2 -- record\` on a node whose driver is systemd: Linux 6.1, systemd 252, containerd 1.6, runc 1.1, and a
kernel with the controllers cpu, io, memory and pids. Ids of processes, pods and containers are made up.
`;

/** What the kernel shows of the root, of all pods, of a tier, a pod and its container that have used a little of everything. */
export async function recordCgroups(): Promise<string> {
  process.env['TUBELET_TEST_CGROUP_DRIVER'] = 'systemd';
  const node = await RealNode.start('record');
  try {
    endOnlyWhoAskedForMemory(node);
    await node.workingAgent();
    const shared = new SharedFolder(node, 'record');
    const limits = { cpu: '200m', memory: '64Mi' };
    const main = shell('main', node.image, work, {
      resources: { requests: { cpu: '100m' }, limits },
      ...shared.mounts,
    });
    node.put('recorded', podOf('recorded', { containers: [main], volumes: shared.volumes }));
    await until('the pod has done its work', () => readdirSync(shared.path).includes('done'), {
      timeoutMs: 60_000,
      state: () => node.pod('recorded'),
    });
    const id = (await node.runtime.running('recorded')).get('main') ?? '';
    const container = findFolder(mount, id) ?? '';
    const pod = dirname(container);
    const uid = /-pod([^-]+)\.slice$/.exec(pod)?.[1] ?? '';
    const tidy = (text: string): string =>
      text
        .slice(mount.length + 1)
        .replace(/^tubelet_\w+\.slice\//, '')
        .replaceAll(/tubelet_\w+?-(?=kubepods)/g, '')
        .replace(id, 'c0ffee')
        .replace(uid, '0a1b');
    const tier = dirname(pod);
    const text = [mount, dirname(tier), tier, pod, container].flatMap((folder) => readFolder(folder, tidy)).join('');
    return `=== README\n${readme}${text}`;
  } finally {
    await node.destroy();
  }
}

/** A process that the kernel ends for its memory shall not take the container along. */
function endOnlyWhoAskedForMemory(node: RealNode): void {
  const path = node.names.kubeletConfig;
  const config = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...config, singleProcessOOMKill: true }));
}

function readFolder(folder: string, tidy: (path: string) => string): readonly string[] {
  const names = readdirSync(folder).filter(
    (name) => files.test(name) && !(folder === mount && name === 'cgroup.procs'),
  );
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const shown = name === 'cgroup.procs' ? madeUpIds(text) : text;
    return `=== ${tidy(join(folder, name))}\n${shown}`;
  });
}

const madeUpIds = (text: string): string => {
  const count = text.split('\n').length - 1;
  return Array.from({ length: count }, (_, index) => `${4242 + index}\n`).join('');
};

/** The folder of a container's scope, somewhere below. */
function findFolder(folder: string, id: string): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    const found = entry.name.endsWith(`-${id}.scope`) ? path : findFolder(path, id);
    if (found !== undefined) return found;
  }
  return undefined;
}
