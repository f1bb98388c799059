import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { RealNode } from '../../support/real-node.ts';
import type { Program } from '../../support/real-program.ts';
import { allPods } from '../../support/real-pods.ts';
import { until } from '../../support/real-wait.ts';
import { cgroupPicture, pictureDifferences, type CgroupPicture } from '../support/cgroup-picture.ts';
import { goKubelet, makeFitForGoKubelet } from '../support/go-kubelet.ts';
import { qosPods } from '../support/qos-pods.ts';

/**
 * The Go kubelet makes the cgroups of pods, tubelet takes its place, makes the same pods anew, and the Go kubelet comes back:
 * every value stays what it was, and nothing that runs notices. One story in order, for each driver.
 */
const program = goKubelet();
const skip = program === undefined && 'the Go kubelet is not compiled; npm run control-plane -- --prepare does it';

for (const driver of ['systemd', 'cgroupfs'] as const) {
  describe(`cgroups of pods with the driver ${driver}`, { skip }, () => {
    let node: RealNode;
    let pods: ReadonlyMap<string, object>;
    let agent: Program | undefined;
    let byGoKubelet: CgroupPicture;
    let containers: readonly string[];

    before(async () => {
      makeFitForGoKubelet();
      process.env['TUBELET_TEST_CGROUP_DRIVER'] = driver;
      node = await RealNode.start(`go-${driver}`);
      configure(node);
      pods = qosPods(node.image);
    });
    after(async () => {
      await node?.destroy();
      if (driver === 'systemd') execFileSync('systemctl', ['stop', 'kubepods.slice']);
    });

    /** Kills the agent that is there and starts the next. */
    async function swapTo(kubelet?: string): Promise<void> {
      await agent?.end();
      agent = node.agent([], {}, kubelet);
    }
    const putAll = (): void => pods.forEach((pod, name) => node.put(name, pod));

    async function running(): Promise<readonly Pod[]> {
      const all = async (): Promise<readonly Pod[]> => [...(await allPods(node)).values()];
      const ready = async (): Promise<boolean> => (await all()).filter(isReady).length === pods.size;
      await until('all pods are ready', async () => agent?.running !== true || ready(), {
        timeoutMs: 240_000,
        state: () => agent?.text.slice(-6_000),
      });
      if (agent?.running !== true) throw new Error(`the agent ended: ${agent?.text.slice(-6_000)}`);
      return all();
    }

    /** The tiers may follow a moment later. */
    async function untilSame(now: readonly Pod[]): Promise<void> {
      const differences = (): readonly string[] => pictureDifferences(byGoKubelet, cgroupPicture(now));
      await until('every value is as the Go kubelet made it', () => differences().length === 0, {
        timeoutMs: 90_000,
        state: differences,
      });
    }

    test('the Go kubelet runs pods of every class', async () => {
      await swapTo(program);
      putAll();
      const now = await running();
      byGoKubelet = cgroupPicture(now);
      containers = instancesOf(now);
      assert.equal(containers.length, 10);
      assert.equal(podCgroups().length, pods.size);
    });

    test('tubelet takes its place: no container restarts, no value changes', async () => {
      await swapTo();
      const now = await running();
      assert.deepEqual(instancesOf(now), containers);
      await untilSame(now);
    });

    test('what tubelet makes anew is the same', async () => {
      for (const name of pods.keys()) await node.remove(name);
      await until('their cgroups are gone', () => podCgroups().length === 0, { state: podCgroups, timeoutMs: 60_000 });
      putAll();
      const now = await running();
      containers = instancesOf(now);
      await untilSame(now);
    });

    test('the Go kubelet comes back: no container restarts, no value changes', async () => {
      await swapTo(program);
      const now = await running();
      assert.deepEqual(instancesOf(now), containers);
      await untilSame(now);
    });
  });
}

/** Cgroups as on a usual node: at the root of the tree, with a limit of processes and swap. */
function configure({ names }: RealNode): void {
  const { cgroupRoot, ...config } = JSON.parse(readFileSync(names.kubeletConfig, 'utf8')) as Record<string, unknown>;
  assert.ok(cgroupRoot);
  const more = {
    podPidsLimit: 512,
    memorySwap: { swapBehavior: 'LimitedSwap' },
    systemReserved: { cpu: '100m', memory: '128Mi', pid: '500' },
    enforceNodeAllocatable: ['pods'],
  };
  writeFileSync(names.kubeletConfig, JSON.stringify({ ...config, ...more }));
}

function podCgroups(): readonly string[] {
  const root = '/sys/fs/cgroup';
  const tops = readdirSync(root).filter((name) => /^kubepods(\.slice)?$/.test(name));
  const all = tops.flatMap((top) => readdirSync(`${root}/${top}`, { recursive: true, encoding: 'utf8' }));
  return all.filter((path) => /(^|\/|-)pod[0-9a-f_-]+(\.slice)?$/.test(path));
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** Every container with its id and how often it was restarted. */
function instancesOf(pods: readonly Pod[]): readonly string[] {
  const statuses = pods.flatMap(({ status }) => [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ]);
  return statuses.map(({ name, containerID, restartCount }) => `${name} ${containerID} ${restartCount}`).toSorted();
}
