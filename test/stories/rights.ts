import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { sharesToWeight } from '../../src/model/cpu.ts';
import { container, type Fields } from './plan.ts';
import { containerOf, isReady, waitsFor, type Limits, type Machine, type OpenStage, type Rights } from './stage.ts';
import { story } from './story.ts';

/** What containers may do, and how much they get. */
export function rightStories(open: OpenStage): void {
  void describe('a container', { concurrency: true }, () => {
    securityStories(open);
    resourceStories(open);
  });
}

/** The runtime's default capabilities: fourteen of them. */
const defaultCapabilities = '00000000a80425fb';
const noCapabilities = '0'.repeat(16);
const netBindService = (1n << 10n).toString(16).padStart(16, '0');

interface SecurityCase {
  readonly securityContext?: Fields;
  readonly sees: (machine: Machine) => Partial<Rights>;
}

const securityCases: Readonly<Record<string, SecurityCase>> = {
  plain: {
    sees: ({ unconfined }) => ({
      Uid: '0',
      Gid: '0',
      Groups: '0 2000 3000',
      NoNewPrivs: '0',
      CapEff: defaultCapabilities,
      Seccomp: unconfined,
      root: 'writable',
    }),
  },
  user: {
    securityContext: { runAsUser: 1234, runAsGroup: 2345 },
    sees: () => ({
      Uid: '1234',
      Gid: '2345',
      Groups: '2000 2345 3000',
      CapEff: noCapabilities,
      CapBnd: defaultCapabilities,
      root: 'read-only',
    }),
  },
  none: {
    securityContext: { capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
    sees: () => ({ CapEff: noCapabilities, CapBnd: noCapabilities, NoNewPrivs: '1' }),
  },
  bind: {
    securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
    sees: () => ({ CapEff: netBindService, CapBnd: netBindService, NoNewPrivs: '0' }),
  },
  filtered: {
    securityContext: { seccompProfile: { type: 'RuntimeDefault' }, readOnlyRootFilesystem: true },
    sees: () => ({ Seccomp: '2', CapEff: defaultCapabilities, root: 'read-only' }),
  },
  privileged: {
    securityContext: { privileged: true },
    sees: ({ allCapabilities, unconfined }) => ({
      CapEff: allCapabilities,
      Seccomp: unconfined,
      NoNewPrivs: '0',
      root: 'writable',
    }),
  },
};

function securityStories(open: OpenStage): void {
  story(open, 'has the rights that its security context says', async (stage) => {
    const pod = await stage.give({
      name: 'security',
      spec: { securityContext: { supplementalGroups: [3000], fsGroup: 2000 } },
      containers: Object.entries(securityCases).map(([name, { securityContext }]) =>
        container(name, {}, { ...(securityContext && { securityContext }) }),
      ),
    });
    await pod.when('is ready', isReady);
    for (const [name, { sees }] of Object.entries(securityCases)) {
      const wanted = sees(stage.machine);
      const found = await pod.inside(name).rights();
      const keys = Object.keys(wanted) as (keyof Rights)[];
      assert.deepEqual(Object.fromEntries(keys.map((key) => [key, found[key]])), wanted, name);
    }
  });

  story(open, 'that must not be root does not start as root', async (stage) => {
    const pod = await stage.give({
      name: 'root-refused',
      containers: [container('main', {}, { securityContext: { runAsNonRoot: true } })],
    });
    const now = await pod.when('waits', waitsFor('CreateContainerConfigError'));
    assert.equal(
      containerOf(now).state?.waiting?.message,
      'container has runAsNonRoot and image will run as root ' +
        `(pod: "${pod.name}_default(${now.metadata?.uid})", container: main)`,
    );
    assert.equal(now.status?.phase, 'Pending');
    assert.deepEqual(await pod.seen.containers(), []);
  });
}

interface ResourceCase {
  readonly resources: Fields;
  readonly sees: (memoryBytes: number) => Limits;
}

const resourceCases: Readonly<Record<string, ResourceCase>> = {
  guaranteed: {
    resources: { limits: { cpu: '200m', memory: '48Mi' } },
    sees: () => ({
      parent: 'kubepods',
      cpuShares: 204,
      cpuQuotaUs: 20_000,
      memoryBytes: 48 * 2 ** 20,
      oomScoreAdj: -997,
    }),
  },
  burstable: {
    resources: { requests: { cpu: '100m', memory: '200Mi' }, limits: { cpu: '250m', memory: '256Mi' } },
    sees: (memoryBytes) => ({
      parent: 'kubepods/burstable',
      cpuShares: 102,
      cpuQuotaUs: 25_000,
      memoryBytes: 256 * 2 ** 20,
      oomScoreAdj: 1000 - Math.floor((1000 * 200 * 2 ** 20) / memoryBytes),
    }),
  },
  besteffort: {
    resources: {},
    sees: () => ({
      parent: 'kubepods/besteffort',
      cpuShares: 2,
      cpuQuotaUs: 'max',
      memoryBytes: 'max',
      oomScoreAdj: 1000,
    }),
  },
};

function resourceStories(open: OpenStage): void {
  for (const [name, { resources, sees }] of Object.entries(resourceCases)) {
    story(open, `has the cgroup and the OOM score that follow from its resources: ${name}`, async (stage) => {
      const pod = await stage.give({ name, containers: [container('main', {}, { resources })] });
      const { metadata } = await pod.when('is ready', isReady);
      const { memoryBytes, lowestOomScore } = stage.machine;
      const wanted = sees(memoryBytes);
      const { cpuShares, cpuWeight, ...found } = await pod.inside('main').cgroup();
      const { cpuShares: wantedShares = 0, ...others } = wanted;
      if (cpuWeight === undefined) assert.equal(cpuShares, wantedShares);
      else assert.ok(weightsOf(wantedShares).includes(cpuWeight), `cpu.weight is ${cpuWeight}`);
      assert.deepEqual(found, {
        ...others,
        parent: `${wanted.parent}/pod${metadata?.uid}`,
        oomScoreAdj: Math.max(wanted.oomScoreAdj, lowestOomScore),
      });
    });
  }
}

/** What runtimes make of shares on version 2: in proportion, or along the curve that newer ones follow. */
function weightsOf(shares: number): readonly number[] {
  const log = Math.log2(shares);
  const curve = Math.ceil(10 ** ((log ** 2 + 125 * log) / 612 - 7 / 34));
  return [Number(sharesToWeight(BigInt(shares))), curve];
}
