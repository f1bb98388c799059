import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announcedHandlers, notReadyReasons } from './node-sources.ts';

const well = {
  runtimeErrors: (): readonly string[] => [],
  networkError: (): string | undefined => undefined,
  handlers: () => new Set<string>(),
  handlerFeatures: () => undefined,
  features: () => ({ supplementalGroupsPolicy: false }),
};

test('reasons against pods are listed in order of importance', () => {
  const none = { unhealthy: () => undefined };
  const ready = { problem: () => undefined };
  assert.deepEqual(notReadyReasons({ health: well, pleg: none, storage: ready }), []);
  const health = { ...well, runtimeErrors: () => ['runtime down', 'not ready'], networkError: () => 'no network' };
  const pleg = { unhealthy: () => 'pleg has yet to be successful' };
  assert.deepEqual(notReadyReasons({ health, pleg, storage: { problem: () => 'no CSINode' } }), [
    'runtime down',
    'not ready',
    'PLEG is not healthy: pleg has yet to be successful',
    'no network',
    'no CSINode',
  ]);
  assert.deepEqual(notReadyReasons({ health: well, pleg, storage: ready }), [
    'PLEG is not healthy: pleg has yet to be successful',
  ]);
});

test('reported handlers: the default first, without those of unknown features', () => {
  const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
  const known = new Map([
    ['', features],
    ['kata', features],
  ]);
  const handlers = (): ReadonlySet<string> => new Set(['kata', 'gone']);
  assert.deepEqual(announcedHandlers({ handlers, handlerFeatures: (name) => known.get(name) }), [
    { name: '', ...features },
    { name: 'kata', ...features },
  ]);
});
