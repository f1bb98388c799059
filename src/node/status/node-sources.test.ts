import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConditions } from '../node-conditions.ts';
import { announcedHandlers, notReadyReasons } from './node-sources.ts';

const well = {
  runtimeErrors: (): readonly string[] => [],
  networkError: (): string | undefined => undefined,
  handlers: () => new Set<string>(),
  handlerFeatures: () => undefined,
  features: () => ({ supplementalGroupsPolicy: false }),
};

const up = nodeConditions({ isSet: () => false });
const down = nodeConditions({ isSet: () => true });

test('reasons against pods are listed in order of importance', () => {
  const none = { unhealthy: () => undefined };
  const ready = { problem: () => undefined };
  assert.deepEqual(notReadyReasons({ health: well, pleg: none, storage: ready, conditions: up }), []);
  const health = { ...well, runtimeErrors: () => ['runtime down', 'not ready'], networkError: () => 'no network' };
  const pleg = { unhealthy: () => 'pleg has yet to be successful' };
  assert.deepEqual(notReadyReasons({ health, pleg, storage: { problem: () => 'no CSINode' }, conditions: down }), [
    'runtime down',
    'not ready',
    'PLEG is not healthy: pleg has yet to be successful',
    'no network',
    'no CSINode',
    'node is shutting down',
  ]);
  assert.deepEqual(notReadyReasons({ health: well, pleg, storage: ready, conditions: up }), [
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
