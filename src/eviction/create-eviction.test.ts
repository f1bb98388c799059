import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../base/log.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { createEviction } from './create-eviction.ts';
import { commonPorts } from '../testing/common-ports.ts';

for (const [localStorageCapacityIsolation, names, remembered] of [
  [true, ['local-storage-eviction'], ['eviction/skipped-critical']],
  [false, [], []],
] as const) {
  test(`limits of local storage where it is counted: ${localStorageCapacityIsolation}`, () => {
    const podRemoval = new PodRemoval(silentLog);
    const { components } = createEviction({
      ports: commonPorts({ log: silentLog }),
      settings: { localStorageCapacityIsolation },
      podRemoval,
      pods: { activePods: () => [] },
      workers: { terminate: () => {} },
      meter: { storage: async () => new Map() },
      events: { record: () => {} },
    });
    assert.deepEqual(
      components.map(({ name }) => name),
      names,
    );
    assert.deepEqual([...podRemoval.sizes().keys()], remembered);
  });
}
