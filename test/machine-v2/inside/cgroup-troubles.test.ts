import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { RealNode } from '../../support/real-node.ts';
import type { Program } from '../../support/real-program.ts';
import { allPods } from '../../support/real-pods.ts';
import { clock, until } from '../../support/real-wait.ts';
import { cgroupPicture, pictureDifferences } from '../support/cgroup-picture.ts';
import { qosPods } from '../support/qos-pods.ts';

/**
 * The agent is killed while pods come and go, the bus is killed, and systemd begins anew. Afterwards no slice is left over, no
 * value is another, and what ran has noticed nothing.
 */
const steady = ['guaranteed', 'requests', 'besteffort'];
const passing = ['burstable', 'half-limited'];
/** When the agent is killed, counted from its start. */
const killsAfterMs = [1_500, 4_000, 8_000];

/** A systemd that begins anew resets this of every scope. The runtime had set it when it made the container's. */
const resetBySystemd = /\.scope memory\.oom\.group: 1 -> 0$/;

let node: RealNode;
let agent: Program | undefined;

before(async () => {
  process.env['TUBELET_TEST_CGROUP_DRIVER'] = 'systemd';
  node = await RealNode.start('troubles');
  // At the root of the tree, as on a usual node.
  const { cgroupRoot: _, ...config } = JSON.parse(readFileSync(node.names.kubeletConfig, 'utf8')) as object & {
    readonly cgroupRoot?: string;
  };
  writeFileSync(node.names.kubeletConfig, JSON.stringify({ ...config, podPidsLimit: 512 }));
});
after(async () => {
  await node?.destroy();
  systemctl('stop', 'kubepods.slice');
});

const systemctl = (...words: readonly string[]): string => execFileSync('systemctl', words, { encoding: 'utf8' });

async function restart(): Promise<void> {
  await agent?.end();
  agent = node.agent();
}

async function running(names: readonly string[]): Promise<readonly Pod[]> {
  const all = async (): Promise<readonly Pod[]> => {
    const found = await allPods(node);
    return names.flatMap((name) => found.get(name) ?? []);
  };
  const ready = async (): Promise<boolean> => (await all()).filter(isReady).length === names.length;
  await until('the pods are ready', async () => agent?.running === true && ready(), {
    timeoutMs: 240_000,
    state: () => agent?.text.slice(-6_000),
  });
  return all();
}

/** Every slice of a pod that systemd has. */
const podSlices = (): readonly string[] =>
  systemctl('list-units', '--type=slice', '--all', '--plain', '--no-legend')
    .split('\n')
    .flatMap((line) => /^\S*kubepods\S*-pod\S+\.slice/.exec(line)?.[0] ?? []);

test(
  'no slice leaks, no value changes and no container restarts, whoever is killed when',
  { timeout: 900_000 },
  async () => {
    const pods = qosPods(node.image);
    await restart();
    for (const name of steady) node.put(name, pods.get(name) ?? {});
    const first = await running(steady);
    const before = cgroupPicture(first);
    assert.equal(podSlices().length, steady.length);

    for (const [round, afterMs] of killsAfterMs.entries()) {
      for (const name of passing) node.put(name, pods.get(name) ?? {});
      await clock.sleep(afterMs);
      if (round % 2 === 0) systemctl('kill', '--signal=KILL', 'dbus.service');
      else systemctl('daemon-reexec');
      for (const name of passing) rmSync(join(node.names.manifests, `${name}.json`));
      await clock.sleep(afterMs / 4);
      await restart();
    }

    const last = await running(steady);
    assert.deepEqual(instancesOf(last), instancesOf(first));
    await until('the slices of pods that went are gone', () => podSlices().length === steady.length, {
      timeoutMs: 240_000,
      state: () => `${podSlices().join(' ')}\n${agent?.text.slice(-4_000)}`,
    });
    const differences = (): readonly string[] =>
      pictureDifferences(before, cgroupPicture(last)).filter((line) => !resetBySystemd.test(line));
    await until('every value is as it was', () => differences().length === 0, {
      timeoutMs: 90_000,
      state: differences,
    });
  },
);

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

const instancesOf = (pods: readonly Pod[]): readonly string[] =>
  pods
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ name, containerID, restartCount }) => `${name} ${containerID} ${restartCount}`)
    .toSorted();
