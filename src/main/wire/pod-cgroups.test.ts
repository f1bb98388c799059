import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { loadSettings, type Settings } from '../../config/index.ts';
import { readMachine } from '../../host/index.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { configuredReservations, wirePodCgroups, type WiredCgroups } from './pod-cgroups.ts';
import { runtimeSettings } from './runtime-settings.ts';

const never = new AbortController().signal;

function settingsOf(...argv: readonly string[]): Settings {
  const result = loadSettings({ argv, version: '1', cwd: '/', readFile: assert.fail, listDir: assert.fail });
  assert.equal(result.kind, 'run');
  return result.kind === 'run' ? result.settings : assert.fail();
}

function wired(
  argv: readonly string[],
  {
    cgroupVersion = 1,
    cgroupDriver = 'cgroupfs',
  }: { cgroupVersion?: 1 | 2; cgroupDriver?: 'cgroupfs' | 'systemd' } = {},
): WiredCgroups & { readonly log: MemoryLog } {
  const log = new MemoryLog();
  const settings = settingsOf(...argv);
  const machine = { ...readMachine(), cgroupVersion };
  const ours = runtimeSettings(settings, { nodeName: 'n', machine, cgroupDriver });
  const common = {
    clock: new FakeClock(),
    random: seededRandom(1),
    log,
    heartbeats: new Heartbeats(),
    metrics: new Registry(),
  };
  return {
    ...wirePodCgroups({ ...common, settings, ours, machine, events: { record: () => {} }, pods: assert.fail }),
    log,
  };
}

const names = ({ components }: WiredCgroups): readonly string[] => components.map(({ name }) => name);
const withoutCgroups = ['--cgroups-per-qos=false', '--enforce-node-allocatable='];

test('the version is looked at first, then the tree is made', () => {
  assert.deepEqual(names(wired([])), ['cgroup-version', 'pod-cgroups']);
});

test('without cgroups of pods nothing is made, missed or removed', async () => {
  const parts = wired(withoutCgroups);
  assert.deepEqual(names(parts), ['cgroup-version']);
  assert.equal(parts.cgroups.exist(aPod()), true);
  await parts.cgroups.ensure(aPod());
  await parts.cgroups.remove(aPod().uid);
});

test('slices are left to systemd, and that is said once', async () => {
  const parts = wired([], { cgroupDriver: 'systemd', cgroupVersion: 2 });
  for (const component of parts.components) await component.start(never);
  await parts.cgroups.ensure(aPod());
  await parts.cgroups.ensure(aPod());
  assert.equal(parts.log.messages('warn').length, 1);
});

test('version 1 is refused where that is configured', async () => {
  await wired(withoutCgroups).components[0]?.start(never);
  await assert.rejects(async () => wired(['--fail-cgroupv1']).components[0]?.start(never), /failCgroupV1 is true/);
  await wired(['--fail-cgroupv1'], { cgroupVersion: 2 }).components[0]?.start(never);
});

test('reserves come from the configuration', () => {
  const settings = settingsOf('--kube-reserved=cpu=1,memory=1Gi', '--system-reserved=pid=9', '--reserved-cpus=0-1');
  assert.deepEqual(configuredReservations(settings), { kube: { memory: '1Gi' }, system: { cpu: '2', pid: '9' } });
});
