import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../telemetry/index.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { announceProviders, imageMetrics, sizeLabel } from './image-metrics.ts';

test('images fall into classes by size', () => {
  const megabyte = 1n << 20n;
  const table: readonly (readonly [bigint, string])[] = [
    [0n, 'N/A'],
    [1n, '0-10MB'],
    [10n * megabyte, '0-10MB'],
    [10n * megabyte + 1n, '10MB-100MB'],
    [101n * megabyte, '100MB-500MB'],
    [501n * megabyte, '500MB-1GB'],
    [1025n * megabyte, '1GB-5GB'],
    [6n << 30n, '5GB-10GB'],
    [11n << 30n, '10GB-20GB'],
    [21n << 30n, '20GB-30GB'],
    [31n << 30n, '30GB-40GB'],
    [41n << 30n, '40GB-60GB'],
    [61n << 30n, '60GB-100GB'],
    [101n << 30n, 'GT100GB'],
  ];
  for (const [bytes, label] of table) assert.equal(sizeLabel(bytes), label, `${bytes}`);
});

test('a pull is measured from the request to the image; what is there already is not', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.scriptPulls('app:1', { takesMs: 7_000 });
  const metrics = imageMetrics(registry);
  const waits: string[] = [];
  const pulls = {
    began: (uid: string) => waits.push(`began ${uid}`),
    ended: (uid: string) => waits.push(`ended ${uid}`),
  };
  const events = new MemoryEvents();
  const manager = anImageManager({ clock, service: cri, events, metrics, pulls });
  const ensure = () =>
    manager.ensure(
      aPod(),
      aContainer('main', { image: 'app:1' }),
      'spec.containers{main}',
      new AbortController().signal,
    );
  const pulling = ensure();
  await clock.advance(7_000);
  await pulling;
  await ensure();
  assert.deepEqual(waits, ['began uid-1', 'ended uid-1']);
  metrics.pluginRan('p', 250);
  metrics.pluginFailed('p');
  announceProviders(registry, 'sha256:1');
  const text = registry.render();
  for (const line of [
    'kubelet_image_pull_duration_seconds_sum{image_size_in_bytes="0-10MB"} 7',
    'kubelet_image_pull_duration_seconds_count{image_size_in_bytes="0-10MB"} 1',
    'kubelet_credential_provider_plugin_duration_sum{plugin_name="p"} 0.25',
    'kubelet_credential_provider_plugin_errors_total{plugin_name="p"} 1',
    'kubelet_credential_provider_config_info{hash="sha256:1"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
