import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImageSpec } from '../gen/cri/api.ts';
import type { Volume } from '../gen/kubernetes/types.ts';
import { podPaths } from '../model/pod-paths.ts';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aVolumeManager } from '../testing/volume-manager.ts';
import { memoryVolumeHost } from '../testing/memory-volume-host.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { imageVolume } from './plugins/image.ts';
import { imageVolumeMetrics } from './volume-metrics.ts';
import { pluginName } from './wanted-volumes.ts';

const never = new AbortController().signal;
const folder = 'kubernetes.io~empty-dir';
const volumes: readonly Volume[] = [{ name: 'cache', emptyDir: {} }];
const pod = aPod({
  spec: {
    volumes: [...volumes],
    containers: [aContainer('main', { volumeMounts: [{ name: 'cache', mountPath: '/cache' }] })],
  },
});

function setUp() {
  const [clock, files, registry] = [new FakeClock(), new MemoryFiles(), new Registry()];
  const failing = { is: false };
  const paths = podPaths('/var/lib/kubelet', '/var/log/pods');
  const manager = aVolumeManager({
    clock,
    log: new MemoryLog(),
    host: memoryVolumeHost(files),
    paths,
    plugins: [
      {
        folder,
        handles: ({ emptyDir }) => emptyDir !== undefined,
        setUp: async ({ pod: { uid }, volume: { name } }) => {
          await clock.sleep(200);
          if (failing.is) throw new Error('no room');
          await files.makeFolder(`${paths.volumes(uid)}/${folder}/${name}`, 0o777);
          return { hostPath: '/x' };
        },
        tearDown: async () => {
          if (failing.is) throw new Error('busy');
        },
      },
    ],
    subPaths: { clean: async () => {} },
    events: { record: () => {} },
    wake: () => {},
    metrics: registry,
  });
  const shows = (...lines: readonly string[]): void => {
    const page = new Set(registry.render().split('\n'));
    for (const line of lines) assert.ok(page.has(line), `${line} in\n${[...page].join('\n')}`);
  };
  const mount = async (): Promise<void> => {
    const done = manager.mount(pod, never).catch(() => undefined);
    await clock.advance(1_000);
    await done;
  };
  return { clock, files, paths, failing, manager, mount, shows };
}

test('each try is timed, and all tries together', async () => {
  const { failing, manager, mount, shows } = setUp();
  failing.is = true;
  await mount();
  shows(
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="desired_state_of_world"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 0',
  );
  failing.is = false;
  await mount();
  const labels = 'migrated="false",operation_name="volume_mount"';
  shows(
    `storage_operation_duration_seconds_count{${labels},status="fail-unknown",volume_plugin="kubernetes.io/empty-dir"} 1`,
    `storage_operation_duration_seconds_sum{${labels},status="success",volume_plugin="kubernetes.io/empty-dir"} 0.2`,
    'volume_operation_total_seconds_sum{operation_name="overall_volume_mount",plugin_name="kubernetes.io/empty-dir"} 1.2',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 1',
    'reconstruct_volume_operations_total 0',
  );
  failing.is = true;
  await assert.rejects(manager.unmount(pod));
  failing.is = false;
  await manager.unmount(pod);
  shows(
    'volume_operation_total_seconds_count{operation_name="overall_volume_unmount",plugin_name="kubernetes.io/empty-dir"} 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_unmount",status="fail-unknown",volume_plugin="kubernetes.io/empty-dir"} 1',
    'reconstruct_volume_operations_total 0',
  );
});

test('what an earlier process left on the disk is counted, unknown kinds apart', async () => {
  const { files, paths, manager, shows } = setUp();
  await files.makeFolder(`${paths.volumes(pod.uid)}/${folder}/cache`, 0o777);
  await files.makeFolder(`${paths.volumes(pod.uid)}/kubernetes.io~csi/disk`, 0o777);
  await manager.tearDown(pod.uid);
  shows('reconstruct_volume_operations_total 2', 'reconstruct_volume_operations_errors_total 1');
});

test('volumes that are images are counted', async () => {
  const registry = new Registry();
  const answers = [async () => ImageSpec.fromPartial({}), () => Promise.reject(new Error('not there'))];
  const images = { ensure: async () => (answers.shift() ?? assert.fail())() };
  const plugin = imageVolume(images, imageVolumeMetrics(registry));
  const request = { pod, volume: { name: 'x', image: {} } };
  await plugin.setUp(request, never);
  await assert.rejects(plugin.setUp(request, never), /not there/);
  const page = registry.render();
  assert.match(page, /^kubelet_image_volume_requested_total 2$/m);
  assert.match(page, /^kubelet_image_volume_mounted_succeed_total 1$/m);
  assert.match(page, /^kubelet_image_volume_mounted_errors_total 1$/m);
});

test('kinds have the names dashboards know', () => {
  assert.equal(pluginName({ name: 'x', configMap: {} }, 'kubernetes.io~configmap'), 'kubernetes.io/configmap');
  assert.equal(pluginName({ name: 'x', hostPath: { path: '/' } }, undefined), 'kubernetes.io/host-path');
});
