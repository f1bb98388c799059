import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectKey, type StandaloneObject } from '../model/standalone-object.ts';
import type { EnvLookup } from '../pods/runtime/compute-container-env.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { StandaloneObjects } from './standalone-objects.ts';

const at = { namespace: 'ns', path: '/m/a.yaml', line: 3 } as const;
const settings: StandaloneObject = { ...at, kind: 'ConfigMap', name: 'settings', object: { data: { colour: 'red' } } };
const token: StandaloneObject = { ...at, kind: 'Secret', name: 'token', object: { data: { key: 'aHVudGVyMg==' } } };

function world(): { log: MemoryLog; changes: string[]; objects: StandaloneObjects; lookup: EnvLookup } {
  const log = new MemoryLog();
  const changes: string[] = [];
  const objects: StandaloneObjects = new StandaloneObjects({
    log,
    onChange: (changed) => changes.push(changed.map(objectKey).join(', ')),
  });
  // What containers are made with takes the store as it is.
  const lookup: EnvLookup = {
    configMap: (namespace, name) => objects.configMap(namespace, name),
    secret: (namespace, name) => objects.secret(namespace, name),
    services: () => [],
  };
  return { log, changes, objects, lookup };
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

test('changes are told once the new values can be read, and nothing is told without one', () => {
  const log = new MemoryLog();
  const seen: unknown[] = [];
  const objects: StandaloneObjects = new StandaloneObjects({
    log,
    onChange: (changed) => seen.push([changed.map(objectKey), objects.configMap('ns', 'settings')?.data]),
  });
  objects.set([]);
  objects.set([settings]);
  objects.set([{ ...settings, line: 8 }]);
  objects.set([]);
  assert.deepEqual(seen, [
    [['ConfigMap ns/settings'], { colour: 'red' }],
    [['ConfigMap ns/settings'], undefined],
  ]);
});

test('a duplicate is reported once while it stays, with file and line, and without values', () => {
  const { log, changes, objects } = world();
  const twin = { ...token, path: '/m/b.yaml', line: 12 };
  objects.set([token, twin]);
  objects.set([token, twin, settings]);
  assert.deepEqual(changes, ['Secret ns/token', 'ConfigMap ns/settings']);
  const errors = (): string[] =>
    log.entries.filter((entry) => entry.severity === 'error').map((entry) => (entry.error as Error).message);
  assert.deepEqual(errors(), ['/m/b.yaml:12: Secret ns/token stands already at /m/a.yaml:3; that one counts']);
  objects.set([token]);
  objects.set([token, twin]);
  assert.equal(errors().length, 2);
  assert.ok(!JSON.stringify(log.entries).includes('aHVudGVy'));
});
