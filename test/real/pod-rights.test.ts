import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { cgroupHierarchies } from '../../src/host/pod-cgroups.ts';
import { processesOf } from '../support/real-footprint.ts';
import { RealNode } from '../support/real-node.ts';
import { containerOf, endedPod, idle, lines, podOf, podWhen, saidBy, shell } from '../support/real-pods.ts';
import { nodeName } from '../support/real-runtime.ts';

/** What containers may do and how much they get, as the kernel sees it. */
let node: RealNode;
before(async () => {
  node = await RealNode.start('rights');
  putSecurity(node.image);
  putResources(node.image);
  await node.workingAgent();
});
after(() => node?.destroy());

const put = (name: string, spec: object): void => node.put(name, podOf(name, { restartPolicy: 'Never', ...spec }));

/** What the machine gives to a container that is not restricted at all: as much as the runtime itself has. */
const ownStatus = statusFields(lines(readFileSync('/proc/self/status', 'utf8')));
const unconfined = ownStatus['Seccomp'] ?? '0';
/** The runtime's default capabilities: fourteen of them. */
const defaultCapabilities = '00000000a80425fb';
const netBindService = (1n << 10n).toString(16).padStart(16, '0');

interface SecurityCase {
  readonly securityContext?: object;
  readonly sees: Readonly<Record<string, string>>;
}

const securityCases: Readonly<Record<string, SecurityCase>> = {
  plain: {
    sees: {
      Uid: '0',
      Gid: '0',
      Groups: '0 2000 3000',
      NoNewPrivs: '0',
      CapEff: defaultCapabilities,
      Seccomp: unconfined,
      root: 'writable',
    },
  },
  user: {
    securityContext: { runAsUser: 1234, runAsGroup: 2345 },
    sees: {
      Uid: '1234',
      Gid: '2345',
      Groups: '2000 2345 3000',
      CapEff: '0'.repeat(16),
      CapBnd: defaultCapabilities,
      root: 'read-only',
    },
  },
  none: {
    securityContext: { capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
    sees: { CapEff: '0'.repeat(16), CapBnd: '0'.repeat(16), NoNewPrivs: '1' },
  },
  bind: {
    securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
    sees: { CapEff: netBindService, CapBnd: netBindService, NoNewPrivs: '0' },
  },
  filtered: {
    securityContext: { seccompProfile: { type: 'RuntimeDefault' }, readOnlyRootFilesystem: true },
    sees: { Seccomp: '2', CapEff: defaultCapabilities, root: 'read-only' },
  },
  privileged: {
    securityContext: { privileged: true },
    sees: { CapEff: ownStatus['CapEff'] ?? '', Seccomp: unconfined, NoNewPrivs: '0', root: 'writable' },
  },
};

function putSecurity(image: string): void {
  const script =
    'cat /proc/self/status; if touch /try 2>/dev/null; then echo "root: writable"; else echo "root: read-only"; fi';
  const containers = Object.entries(securityCases).map(([name, { securityContext }]) =>
    shell(name, image, script, { securityContext }),
  );
  put('security', { securityContext: { supplementalGroups: [3000], fsGroup: 2000 }, containers });
  put('root-refused', { containers: [shell('main', image, 'true', { securityContext: { runAsNonRoot: true } })] });
}

describe('the rights of a container', () => {
  for (const [name, { sees }] of Object.entries(securityCases)) {
    test(`are what its security context says: ${name}`, async () => {
      const fields = statusFields(saidBy(node, await endedPod(node, 'security'), name));
      assert.deepEqual(Object.fromEntries(Object.keys(sees).map((key) => [key, fields[key]])), sees);
    });
  }

  test('are not root when it must not be root: it does not start', async () => {
    const pod = await podWhen(node, 'root-refused', 'waits', ({ status }) =>
      /Error/.test(status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''),
    );
    assert.deepEqual(containerOf(pod, 'main').state?.waiting, {
      reason: 'CreateContainerConfigError',
      message:
        'container has runAsNonRoot and image will run as root ' +
        `(pod: "root-refused-${nodeName}_default(${pod.metadata?.uid})", container: main)`,
    });
    assert.equal(pod.status?.phase, 'Pending');
    assert.deepEqual(await node.runtime.containers('root-refused'), []);
  });
});

/** Fields of /proc/self/status; of four user or group ids the first, as all are the same here. */
function statusFields(output: readonly string[]): Readonly<Record<string, string>> {
  const fields = output.map((line) => line.split(/:\s*(.*)/s).map((word) => word.trim()));
  return Object.fromEntries(
    fields.map(([key = '', value = '']) => [key, /^[UG]id$/.test(key) ? (value.split(/\s+/)[0] ?? '') : value]),
  );
}

const resourceCases = {
  guaranteed: {
    resources: { limits: { cpu: '200m', memory: '48Mi' } },
    parent: 'kubepods',
    oomScore: (): number => -997,
    v1: { 'cpu.shares': '204', 'cpu.cfs_quota_us': '20000', 'memory.limit_in_bytes': String(48 * 2 ** 20) },
    v2: { 'cpu.max': '20000 100000', 'memory.max': String(48 * 2 ** 20) },
  },
  burstable: {
    resources: { requests: { cpu: '100m', memory: '200Mi' }, limits: { cpu: '250m', memory: '256Mi' } },
    parent: 'kubepods/burstable',
    oomScore: (memory: number): number => 1000 - Math.floor((1000 * 200 * 2 ** 20) / memory),
    v1: { 'cpu.shares': '102', 'cpu.cfs_quota_us': '25000', 'memory.limit_in_bytes': String(256 * 2 ** 20) },
    v2: { 'cpu.max': '25000 100000', 'memory.max': String(256 * 2 ** 20) },
  },
  besteffort: {
    resources: {},
    parent: 'kubepods/besteffort',
    oomScore: (): number => 1000,
    v1: { 'cpu.shares': '2', 'cpu.cfs_quota_us': '-1', 'memory.limit_in_bytes': '9223372036854771712' },
    v2: { 'cpu.max': 'max 100000', 'memory.max': 'max', 'cpu.weight': '1' },
  },
} as const;

function putResources(image: string): void {
  for (const [name, { resources }] of Object.entries(resourceCases)) {
    put(name, { terminationGracePeriodSeconds: 1, containers: [shell('main', image, idle, { resources })] });
  }
}

describe('the cgroup and the OOM score of a container', () => {
  for (const [name, { parent, oomScore, v1, v2 }] of Object.entries(resourceCases)) {
    test(`follow from its resources: ${name}`, async () => {
      const { metadata } = await node.readyPod(name);
      const id = (await node.runtime.running(name)).get('main') ?? 'none';
      const path = `${node.names.cgroupRoot}/${parent}/pod${metadata?.uid}/${id}`;
      const main = processesOf(node.names).find(({ cgroups }) => cgroups.includes(path));
      assert.ok(main !== undefined, `a process in ${path}`);

      const wanted = oomScore(memoryBytes());
      // Without CAP_SYS_RESOURCE the runtime cannot go below its own score, and says in its settings that it will not.
      const lowest = readNumber(`/proc/${node.containerdPid}/oom_score_adj`);
      assert.equal(readNumber(`/proc/${main.pid}/oom_score_adj`), Math.max(wanted, lowest));

      const trees = cgroupHierarchies();
      const version = trees.some(({ controllers }) => controllers.includes('memory')) ? 1 : 2;
      for (const [file, value] of Object.entries<string>(version === 1 ? v1 : v2)) {
        const [controller = ''] = file.split('.');
        const tree = trees.find((one) => (version === 1 ? one.controllers.includes(controller) : one.version === 2));
        assert.equal(readFileSync(`${tree?.root}${path}/${file}`, 'utf8').trim(), value, file);
      }
    });
  }

  const readNumber = (path: string): number => Number(readFileSync(path, 'utf8'));
  const memoryBytes = (): number =>
    Number(/^MemTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024;
});
