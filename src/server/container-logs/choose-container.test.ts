import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContainerState, PodStatus } from '../../gen/kubernetes/types.ts';
import { bareContainerId, chooseContainer } from './choose-container.ts';

const ended = (containerID?: string): ContainerState => ({
  terminated: { exitCode: 1, ...(containerID === undefined ? {} : { containerID }) },
});

const statusOf = (
  state: ContainerState | undefined,
  lastState?: ContainerState,
  field: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses' = 'containerStatuses',
): PodStatus => ({
  [field]: [
    {
      name: 'other',
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      state: { running: {} },
      containerID: 'r://o',
    },
    {
      name: 'c',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 1,
      containerID: 'r://now',
      ...(state === undefined ? {} : { state }),
      ...(lastState === undefined ? {} : { lastState }),
    },
  ],
});

describe('the container whose log is shown', () => {
  const cases: readonly (readonly [string, PodStatus | undefined, boolean, string])[] = [
    ['running', statusOf({ running: {} }), false, 'r://now'],
    ['running init', statusOf({ running: {} }, undefined, 'initContainerStatuses'), false, 'r://now'],
    ['running ephemeral', statusOf({ running: {} }, undefined, 'ephemeralContainerStatuses'), false, 'r://now'],
    ['ended', statusOf(ended('r://dead')), false, 'r://dead'],
    ['ended, never begun', statusOf(ended(), ended('r://before')), false, 'r://before'],
    ['ended, nothing at all', statusOf(ended()), false, 'container "c" in pod "p" is terminated'],
    [
      'waiting after a crash',
      statusOf({ waiting: { reason: 'CrashLoopBackOff' } }, ended('r://before')),
      false,
      'r://before',
    ],
    ['crashed without id', statusOf({ waiting: {} }, ended()), false, 'container "c" in pod "p" is terminated'],
    ['previous', statusOf({ running: {} }, ended('r://before')), true, 'r://before'],
    ['no previous', statusOf({ running: {} }), true, 'previous terminated container "c" in pod "p" not found'],
    [
      'previous, no id',
      statusOf({ running: {} }, ended('')),
      true,
      'previous terminated container "c" in pod "p" not found',
    ],
    [
      'no image',
      statusOf({ waiting: { reason: 'ErrImagePull' } }),
      false,
      'container "c" in pod "p" is waiting to start: image can\'t be pulled',
    ],
    [
      'no image again',
      statusOf({ waiting: { reason: 'ImagePullBackOff' } }),
      false,
      'container "c" in pod "p" is waiting to start: trying and failing to pull image',
    ],
    [
      'creating',
      statusOf({ waiting: { reason: 'ContainerCreating' } }),
      false,
      'container "c" in pod "p" is waiting to start: ContainerCreating',
    ],
    ['no state', statusOf(undefined), false, 'container "c" in pod "p" is waiting to start - no logs yet'],
    ['no status of it', {}, false, 'container "c" in pod "p" is not available'],
    ['no status', undefined, false, 'container "c" in pod "p" is not available'],
  ];
  for (const [name, status, previous, expected] of cases) {
    test(name, () => {
      const chosen = chooseContainer({ name: 'p', status }, 'c', previous);
      assert.equal(chosen.kind === 'container' ? chosen.id : chosen.message, expected);
    });
  }
});

test('the runtime knows its containers without its own name before them', () => {
  assert.equal(bareContainerId('containerd://abc'), 'abc');
  assert.equal(bareContainerId('abc'), 'abc');
});
