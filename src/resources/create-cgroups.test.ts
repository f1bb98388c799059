import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodRemoval } from '../model/pod-removal.ts';
import { someCgroupSettings } from '../testing/cgroup-settings.ts';
import { MemoryCgroupTree } from '../testing/memory-cgroup-tree.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aPod } from '../testing/pods.ts';
import { createCgroups, type Cgroups, type CgroupSettings } from './create-cgroups.ts';
import { commonPorts } from '../testing/common-ports.ts';

function created(settings: Partial<CgroupSettings>) {
  const log = new MemoryLog();
  const podRemoval = new PodRemoval(log);
  const tree = Object.assign(new MemoryCgroupTree(), {
    controllers: new Set(['cpu', 'cpuacct', 'cpuset', 'memory', 'pids']),
  });
  const cgroups = createCgroups({
    ports: commonPorts({ log }),
    signals: { podRemoval },
    settings: someCgroupSettings(settings),
    host: {
      tree,
      processes: { version: 1, own: () => new Map(), isInside: () => true, make: assert.fail, enter: assert.fail },
    },
    units: undefined,
    pods: { active: () => [], complete: () => true, trace: async () => 'known' },
    events: { record: () => {} },
  });
  return { ...cgroups, log, tree, podRemoval };
}

const names = ({ components }: Cgroups): readonly string[] => components.map(({ name }) => name);

test('the version is checked first, then the tree is made', () => {
  assert.deepEqual(names(created({})), ['agent-cgroup', 'cgroup-version', 'pod-cgroups']);
  assert.deepEqual(names(created({ cgroupDriver: 'systemd' })), ['agent-cgroup', 'cgroup-version', 'pod-cgroups']);
});

test('without cgroups of pods nothing is made, missed or removed', async () => {
  const parts = created({ cgroupsPerQos: false });
  assert.deepEqual(names(parts), ['agent-cgroup', 'cgroup-version']);
  assert.equal(parts.podContainers.exist(aPod()), true);
  await parts.podContainers.ensure(aPod());
  await parts.podContainers.remove(aPod().uid);
  assert.deepEqual([...parts.tree.groups.keys()], ['/']);
  assert.deepEqual([...parts.podRemoval.sizes().keys()], []);
});

test('what is known of the cgroups of pods ends with them', async () => {
  const parts = created({});
  for (const component of parts.components) await component.start(new AbortController().signal);
  const pod = aPod();
  await parts.podContainers.ensure(pod);
  assert.deepEqual(
    [...parts.podRemoval.sizes()],
    [
      ['pod-cgroups', 1],
      ['pod-cgroup-removals', 0],
    ],
  );
  parts.podRemoval.podRemoved(pod.uid);
  assert.deepEqual(
    [...parts.podRemoval.sizes()],
    [
      ['pod-cgroups', 0],
      ['pod-cgroup-removals', 0],
    ],
  );
  for (const component of parts.components.toReversed()) await component.stop();
});
