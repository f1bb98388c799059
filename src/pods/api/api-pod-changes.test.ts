import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFullName, type PodUid } from '../../base/ids.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { podObject } from '../../model/desired-pod.ts';
import { aPod } from '../../testing/pods.ts';
import { ApiPodChanges } from './api-pod-changes.ts';

const [fromApi, fromFile] = [aPod({ uid: 'api', name: 'a', source: 'api' }), aPod({ uid: 'file', name: 'f' })];

function setUp(listed: readonly Pod[] = []) {
  const calls: string[] = [];
  const note =
    (what: string) =>
    (about?: string): void =>
      void calls.push([what, ...(about === undefined ? [] : [about])].join(' '));
  const all = [fromApi, fromFile];
  const changes = new ApiPodChanges({
    pods: { all: () => listed },
    source: { changed: note('source') },
    mirrors: { set: () => [fromFile.fullName] },
    hold: { release: note('release') },
    writer: { changed: note('change'), wake: note('write'), retryAll: note('retry') },
    reconciler: { wake: note('mirror'), wakeAll: note('mirrors') },
    starts: { observed: (pod) => note('start')(pod.metadata?.uid), forget: note('forget') },
    desired: {
      all: () => all,
      get: (uid) => all.find((pod) => pod.uid === uid),
      named: (name) => all.filter((pod) => pod.fullName === name),
    },
  });
  return { changes, take: () => calls.splice(0) };
}

test('a changed pod wakes the status writer; a removed one is dropped from the starts', () => {
  const { changes, take } = setUp();
  changes.podsChanged({ type: 'put', object: podObject(fromApi), previous: undefined });
  assert.deepEqual(take(), ['source', 'start api', 'write api']);
  changes.podsChanged({ type: 'removed', object: podObject(fromApi) });
  assert.deepEqual(take(), ['source', 'forget api']);
  changes.podsChanged({ type: 'put', object: {}, previous: undefined });
  assert.deepEqual(take(), ['source']);
});

test('after a new list everything is compared', () => {
  const { changes, take } = setUp([podObject(fromApi)]);
  changes.podsChanged({ type: 'replaced' });
  assert.deepEqual(take(), ['source', 'retry', 'write api', 'write file', 'start api', 'mirrors']);
});

test('the node lets sources and mirror pods go on', () => {
  const { changes, take } = setUp();
  changes.nodeChanged();
  assert.deepEqual(take(), ['source', 'mirrors']);
});

test('mirror pods that changed wake their static pods, and those that were held go on', () => {
  const { changes, take } = setUp();
  changes.mirrorsListed([]);
  assert.deepEqual(take(), [`mirror ${podFullName('f', 'default')}`, 'write file', 'release']);
});

test('a lifecycle change wakes the status writer; that of a static or removed pod also the reconciler', () => {
  const { changes, take } = setUp();
  changes.lifecycleChanged(fromApi.uid);
  assert.deepEqual(take(), ['write api']);
  changes.lifecycleChanged(fromFile.uid);
  assert.deepEqual(take(), ['write file', 'mirrors']);
  changes.lifecycleChanged('removed' as PodUid);
  assert.deepEqual(take(), ['write removed', 'mirrors']);
});

test('a status that changed is written; that of a static pod may call for another mirror pod', () => {
  const { changes, take } = setUp();
  changes.statusChanged(fromApi.uid);
  changes.statusChanged(fromFile.uid);
  changes.statusChanged('removed' as PodUid);
  assert.deepEqual(take(), ['change api', 'change file', `mirror ${fromFile.fullName}`, 'change removed']);
});
