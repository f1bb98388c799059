import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { cgroupPath, podCgroup, qosCgroup, sliceUnit } from '../../model/cgroup-names.ts';
import { cgroupSettings, type CgroupValues } from '../../model/cgroup-values.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { PodRemoval } from '../../model/pod-removal.ts';
import { podQos } from '../../model/qos.ts';
import type { CgroupSettings } from '../../resources/cgroups/index.ts';
import { createCgroups } from '../../resources/create-cgroups.ts';
import { someCgroupSettings } from '../cgroup-settings.ts';
import { commonPorts } from '../common-ports.ts';
import { FakeClock } from '../fake-clock.ts';
import { MemoryLog } from '../memory-log.ts';
import { aContainer, aPod } from '../pods.ts';
import type { CgroupBench, CgroupSubject } from './bench.ts';

const mebi = 1n << 20n;
const asking = (uid: string, requests: object, limits: object = {}): DesiredPod =>
  aPod({ uid, spec: { containers: [aContainer('main', { resources: { requests, limits } as never })] } });
const small = { cpu: '123m', memory: '64Mi' };
const guaranteed = asking('1a-g', small, small);
const burstable = asking('1a-b', { cpu: '250m' });
const bestEffort = asking('1a-e', {});
const pods = [guaranteed, burstable, bestEffort];
const quota: CgroupValues = { cpuQuotaUs: 12_300n, cpuPeriodUs: 100_000n };
const valuesOf = new Map<DesiredPod, CgroupValues>([
  [guaranteed, { cpuShares: 125n, ...quota, memoryBytes: 64n * mebi, pids: 77n }],
  [burstable, { cpuShares: 256n, pids: 77n }],
  [bestEffort, { cpuShares: 2n, pids: 77n }],
]);

/** An agent does not start on version 1 without cpuset, which the kernels of some benches lack. */
function withCpuset(tree: CgroupBench['tree']): CgroupBench['tree'] {
  return {
    missing: (path) => tree.missing(path),
    make: (path, options) => tree.make(path, options),
    write: (path, settings) => tree.write(path, settings),
    read: (path, controller, file) => tree.read(path, controller, file),
    children: (path) => tree.children(path),
    kill: (path) => tree.kill(path),
    remove: (path) => tree.remove(path),
    controllers: new Set([...tree.controllers, 'cpuset']),
  };
}

/** The cgroups of pods as an agent has them, made through a driver. */
export function podSuite({ version, driver, open }: CgroupSubject): void {
  const begun = async (context: TestContext, more: Partial<CgroupSettings> = {}) => {
    const bench = await open();
    context.after(() => bench.close());
    const world = { active: [] as DesiredPod[], unknown: new Set<string>(), events: [] as string[] };
    const agent = () => agentOn(bench, world, more);
    const first = agent();
    for (const component of first.components) await component.start(new AbortController().signal);
    context.after(async () => {
      for (const component of first.components) await component.stop();
    });
    const path = (...name: readonly string[]): string => cgroupPath([...bench.root, ...name], driver);
    const standsIn = (at: string, expected: CgroupValues): void => {
      for (const { controller, file, value, optional } of cgroupSettings(expected, version)) {
        if (!bench.tree.controllers.has(controller) || optional === true) continue;
        assert.equal(bench.read(at, controller, file), value, `${file} of ${at}`);
      }
    };
    return { bench, world, agent, first, path, standsIn };
  };
  const agentOn = (
    bench: CgroupBench,
    world: { readonly active: DesiredPod[]; readonly unknown: Set<string>; readonly events: string[] },
    more: Partial<CgroupSettings>,
  ) => {
    const log = new MemoryLog();
    const clock = new FakeClock();
    const wiring = {
      ports: commonPorts({ log, clock }),
      signals: { podRemoval: new PodRemoval(log) },
      settings: someCgroupSettings({
        cgroupDriver: driver,
        cgroupVersion: version,
        cgroupRoot: `/${bench.root.join('/')}`,
        podPidsLimit: 77,
        cpus: bench.tree.controllers.has('cpuset') ? bench.cpus : '',
        reserved: { kube: { memory: '64Mi', cpu: '500m' }, system: {} },
        ...more,
      }),
      host: { tree: withCpuset(bench.tree), processes: bench.processes },
      units: bench.units,
      pods: {
        active: () => world.active,
        complete: () => true,
        trace: async (uid: string) => (world.unknown.has(uid) ? ('none' as const) : ('known' as const)),
      },
      events: {
        record: ({ reason, message }: { reason: string; message: string }) =>
          void world.events.push(`${reason}: ${message}`),
      },
    };
    return { ...createCgroups(wiring), clock, log };
  };
  const pathOf = (bench: CgroupBench, pod: DesiredPod): string =>
    cgroupPath(podCgroup(`/${bench.root.join('/')}`, podQos(pod), pod.uid), driver);

  void test('an agent that starts makes the cgroups of all pods and of the tiers', async (context) => {
    const { world, path, standsIn } = await begun(context);
    standsIn(path('kubepods'), { cpuShares: 1_536n, memoryBytes: (8_192n - 64n) * mebi, pids: 1_000n });
    standsIn(path('kubepods', 'burstable'), { cpuShares: 2n });
    standsIn(path('kubepods', 'besteffort'), { cpuShares: 2n });
    assert.deepEqual(world.events, ['NodeAllocatableEnforced: Updated Node Allocatable limit across pods']);
  });

  void test('pods of every class have their values, and tiers follow them', async (context) => {
    const { bench, world, first, path, standsIn } = await begun(context);
    world.active.push(...pods);
    for (const pod of pods) {
      assert.equal(first.podContainers.exist(pod), false);
      await first.podContainers.ensure(pod);
      assert.equal(first.podContainers.exist(pod), true);
    }
    for (const [pod, values] of valuesOf) standsIn(pathOf(bench, pod), values);
    standsIn(path('kubepods', 'burstable'), { cpuShares: 256n });
  });

  void test('an agent that comes back takes over what is there, and changes none of it', async (context) => {
    const { bench, world, agent, first, standsIn } = await begun(context);
    world.active.push(...pods);
    for (const pod of pods) await first.podContainers.ensure(pod);
    const before = pods.map((pod) => bench.identity(pathOf(bench, pod)));
    const runs = await bench.occupy(pathOf(bench, bestEffort));
    const second = agent();
    for (const component of second.components) await component.start(new AbortController().signal);
    for (const pod of pods) {
      assert.equal(second.podContainers.exist(pod), true);
      await second.podContainers.ensure(pod);
    }
    assert.deepEqual(
      pods.map((pod) => bench.identity(pathOf(bench, pod))),
      before,
    );
    for (const [pod, values] of valuesOf) standsIn(pathOf(bench, pod), values);
    assert.ok(runs());
    for (const component of second.components) await component.stop();
  });

  void test('a pod that goes leaves nothing, and comes back with all of it', async (context) => {
    const { bench, world, first, path, standsIn } = await begun(context);
    world.active.push(burstable);
    await first.podContainers.ensure(burstable);
    const runs = await bench.occupy(pathOf(bench, burstable));
    world.active.length = 0;
    await first.podContainers.remove(burstable.uid);
    assert.equal(runs(), false);
    assert.equal(bench.identity(pathOf(bench, burstable)), '');
    standsIn(path('kubepods', 'burstable'), { cpuShares: 2n });
    if (driver === 'systemd') {
      const unit = sliceUnit(podCgroup(`/${bench.root.join('/')}`, 'Burstable', burstable.uid));
      assert.equal(await bench.remembers(unit), false);
    }
    await first.podContainers.ensure(burstable);
    standsIn(pathOf(bench, burstable), { cpuShares: 256n, pids: 77n });
  });

  void test('what an earlier agent left of unknown pods is removed, of known pods it is not', async (context) => {
    const { bench, world, agent, first } = await begun(context);
    for (const pod of pods) await first.podContainers.ensure(pod);
    const runs = await bench.occupy(pathOf(bench, bestEffort));
    const second = agent();
    for (const component of second.components) await component.start(new AbortController().signal);
    await second.podContainers.ensure(guaranteed);
    for (const pod of [guaranteed, bestEffort]) world.unknown.add(pod.uid);
    await second.clock.advance(60_000);
    // Work of a real machine takes its time, whatever the clock of the agent says.
    for (let tries = 0; tries < 500 && bench.identity(pathOf(bench, bestEffort)) !== ''; tries++) await bench.settle();
    assert.equal(bench.identity(pathOf(bench, bestEffort)), '');
    assert.equal(runs(), false);
    assert.notEqual(bench.identity(pathOf(bench, guaranteed)), '');
    assert.notEqual(bench.identity(pathOf(bench, burstable)), '');
    for (const component of second.components) await component.stop();
  });

  void test('reserves are enforced on the cgroup of daemons that is there', async (context) => {
    const bench = await open();
    context.after(() => bench.close());
    const name = driver === 'systemd' ? sliceUnit(bench.root) : `/${bench.root.join('/')}`;
    const enforced = { enforceNodeAllocatable: ['pods', 'kube-reserved'], kubeReservedCgroup: name };
    const world = { active: [], unknown: new Set<string>(), events: [] as string[] };
    const agent = agentOn(bench, world, enforced);
    for (const component of agent.components) await component.start(new AbortController().signal);
    assert.equal(world.events.at(-1), `NodeAllocatableEnforced: Updated limits on kube reserved cgroup ${name}`);
    const path = cgroupPath(bench.root, driver);
    for (const { controller, file, value } of cgroupSettings({ cpuShares: 512n, memoryBytes: 64n * mebi }, version)) {
      assert.equal(bench.read(path, controller, file), value, file);
    }
    for (const component of agent.components) await component.stop();
  });

  void test('the tiers of a cgroupRoot lie below it', async (context) => {
    const { bench } = await begun(context);
    const tier = qosCgroup(`/${bench.root.join('/')}`, 'Burstable');
    assert.notEqual(bench.identity(cgroupPath(tier, driver)), '');
  });
}
