import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import type { StandaloneObject } from '../model/standalone-object.ts';
import type { EnvLookup } from '../pods/runtime/compute-container-env.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import type { ReferringPod } from './ports.ts';
import { StandaloneObjects } from './standalone-objects.ts';

const at = { namespace: 'ns', path: '/m/a.yaml', line: 3 } as const;
const settings: StandaloneObject = { ...at, kind: 'ConfigMap', name: 'settings', object: { data: { colour: 'red' } } };
const token: StandaloneObject = { ...at, kind: 'Secret', name: 'token', object: { data: { key: 'aHVudGVyMg==' } } };

/** A pod that names both. */
const pod: ReferringPod = {
  uid: podUid('both'),
  namespace: 'ns',
  spec: {
    containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'token' } }] }],
  },
};
const onlySettings: ReferringPod = {
  uid: podUid('settings'),
  namespace: 'ns',
  spec: { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'settings' } }] }] },
};

function world(): { log: MemoryLog; woken: unknown[]; objects: StandaloneObjects; lookup: EnvLookup } {
  const log = new MemoryLog();
  const woken: unknown[] = [];
  const objects: StandaloneObjects = new StandaloneObjects({
    log,
    inbox: { resourcesChanged: (uids) => woken.push([uids, objects.configMap('ns', 'settings')?.data]) },
  });
  // What containers are made with takes the store as it is.
  const lookup: EnvLookup = {
    configMap: (namespace, name) => objects.configMap(namespace, name),
    secret: (namespace, name) => objects.secret(namespace, name),
    services: () => [],
  };
  return { log, woken, objects, lookup };
}

test('objects are found by kind, namespace and name, as the API writes them', () => {
  const { objects, lookup } = world();
  assert.equal(lookup.configMap('ns', 'settings'), undefined);
  objects.set([settings, token]);
  assert.deepEqual(lookup.configMap('ns', 'settings'), { data: { colour: 'red' } });
  assert.deepEqual(lookup.secret('ns', 'token'), { data: { key: 'aHVudGVyMg==' } });
  for (const missing of [
    lookup.secret('ns', 'settings'),
    lookup.configMap('default', 'settings'),
    lookup.configMap('ns', 'toString'),
  ]) {
    assert.equal(missing, undefined);
  }
});

test('a change wakes the pods that name the object, once the new values can be read', async () => {
  const { woken, objects } = world();
  objects.set([settings]);
  assert.deepEqual(woken, [], 'no pod has asked yet');
  await objects.ready(pod);
  await objects.ready(onlySettings);
  objects.set([]);
  objects.set([settings]);
  objects.set([{ ...settings, line: 8 }]);
  objects.set([settings, token]);
  assert.deepEqual(woken, [
    [['both', 'settings'], undefined],
    [['both', 'settings'], { colour: 'red' }],
    [['both'], { colour: 'red' }],
  ]);
});

test('a pod is woken for what it names now, and not after it is removed', async () => {
  const { woken, objects } = world();
  await objects.ready(pod);
  await objects.ready({ ...pod, spec: { containers: [] } });
  objects.set([settings]);
  assert.deepEqual(woken, []);
  await objects.ready(pod);
  assert.equal(objects.size(), 1);
  objects.forget(pod.uid);
  assert.equal(objects.size(), 0);
  objects.set([]);
  assert.deepEqual(woken, []);
});

test('a duplicate is reported once while it stays, with file and line, and without values', () => {
  const { log, objects } = world();
  const twin = { ...token, path: '/m/b.yaml', line: 12 };
  objects.set([token, twin]);
  objects.set([token, twin, settings]);
  const errors = (): string[] =>
    log.entries.filter((entry) => entry.severity === 'error').map((entry) => (entry.error as Error).message);
  assert.deepEqual(errors(), ['/m/b.yaml:12: Secret ns/token stands already at /m/a.yaml:3; that one counts']);
  objects.set([token]);
  objects.set([token, twin]);
  assert.equal(errors().length, 2);
  assert.ok(!JSON.stringify(log.entries).includes('aHVudGVy'));
});
