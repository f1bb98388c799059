import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import {
  allContainers,
  containerFieldPath,
  describePod,
  findContainer,
  plainInitContainersOf,
  sidecarsOf,
} from './containers.ts';

const spec: PodSpec = {
  initContainers: [{ name: 'setup' }, { name: 'proxy', restartPolicy: 'Always' }],
  containers: [{ name: 'main', restartPolicy: 'Always' }],
  ephemeralContainers: [{ name: 'debug', targetContainerName: 'main' }],
};

test('containers in starting order with their kinds', () => {
  const seen = allContainers(spec).map(({ kind, container, sidecar }) => [container.name, kind, sidecar]);
  assert.deepEqual(seen, [
    ['setup', 'init', false],
    ['proxy', 'init', true],
    ['main', 'regular', false],
    ['debug', 'ephemeral', false],
  ]);
});

test('sidecars are the init containers that are kept running', () => {
  assert.deepEqual(sidecarsOf(spec), [{ name: 'proxy', restartPolicy: 'Always' }]);
  assert.deepEqual(plainInitContainersOf(spec), [{ name: 'setup' }]);
});

test('a container is found by name over all kinds', () => {
  assert.equal(findContainer(spec, 'debug')?.kind, 'ephemeral');
  assert.equal(findContainer(spec, 'nobody'), undefined);
});

test('texts of events and messages', () => {
  assert.equal(containerFieldPath('regular', 'c'), 'spec.containers{c}');
  assert.equal(containerFieldPath('init', 'c'), 'spec.initContainers{c}');
  assert.equal(containerFieldPath('ephemeral', 'c'), 'spec.ephemeralContainers{c}');
  assert.equal(describePod({ name: 'p', namespace: 'n', uid: 'u' }), 'p_n(u)');
});
