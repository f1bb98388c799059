import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import type { Settings } from '../../config/index.ts';
import { silentLog } from '../../base/log.ts';
import { noDecisions } from '../../model/decisions.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { wireEviction, type EvictionWiring } from './eviction.ts';

for (const [localStorageCapacityIsolation, names] of [
  [true, ['local-storage-eviction']],
  [false, []],
] as const) {
  test(`limits of local storage where it is counted: ${localStorageCapacityIsolation}`, () => {
    const parts = wireEviction({
      decisions: noDecisions,
      settings: { config: { localStorageCapacityIsolation } } as Settings,
      clock: new FakeClock(),
      random: seededRandom(1),
      log: silentLog,
      heartbeats: new Heartbeats(),
      metrics: new Registry(),
      pods: {} as EvictionWiring['pods'],
      meter: { storage: async () => new Map() },
    });
    assert.deepEqual(
      parts.map(({ name }) => name),
      names,
    );
  });
}
