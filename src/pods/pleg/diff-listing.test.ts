import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { anInstance, aSandbox, observedPod } from '../../testing/pods.ts';
import { diffListing, listedAs, type Listing } from './diff-listing.ts';

type Items = Readonly<Record<string, string>>;

/** Pods by uid, each as a map of id → state. */
function listing(pods: Readonly<Record<string, Items>>): Listing {
  return new Map(
    Object.entries(pods).map(([uid, items]) => [
      podUid(uid),
      { name: uid, namespace: 'default', items: Object.entries(items).map(([id, state]) => ({ id, state })) },
    ]),
  );
}

const cases: Readonly<Record<string, readonly [Record<string, Items>, Record<string, Items>, readonly string[]]>> = {
  'nothing anywhere': [{}, {}, []],
  'the same': [{ a: { s: 'ready', c: 'running' } }, { a: { s: 'ready', c: 'running' } }, []],
  'the same in another order': [{ a: { s: 'ready', c: 'running' } }, { a: { c: 'running', s: 'ready' } }, []],
  'a new pod': [{}, { a: { s: 'ready' } }, ['a']],
  'a pod went': [{ a: { s: 'ready' } }, {}, ['a']],
  'a container appeared': [{ a: { s: 'ready' } }, { a: { s: 'ready', c: 'created' } }, ['a']],
  'a container went': [{ a: { s: 'ready', c: 'exited' } }, { a: { s: 'ready' } }, ['a']],
  'a container ended': [{ a: { s: 'ready', c: 'running' } }, { a: { s: 'ready', c: 'exited' } }, ['a']],
  'one container took the place of another': [
    { a: { s: 'ready', c0: 'running' } },
    { a: { s: 'ready', c1: 'running' } },
    ['a'],
  ],
  'only the pod in which something changed': [
    { a: { s: 'ready' }, b: { s: 'ready' } },
    { a: { s: 'ready' }, b: { s: 'notReady' } },
    ['b'],
  ],
  'one came while another went': [{ a: { s: 'ready' } }, { b: { s: 'ready' } }, ['b', 'a']],
};

for (const [name, [before, after, changed]] of Object.entries(cases)) {
  test(`diff: ${name}`, () => assert.deepEqual(diffListing(listing(before), listing(after)), changed));
}

test('an inspected pod is listed as a relist would list it', () => {
  const pod = observedPod(
    [aSandbox('s1'), aSandbox('s0', { state: 'notReady' })],
    [anInstance('main', { id: 'c1' }), anInstance('main', { id: 'c0', state: 'exited' })],
  );
  assert.deepEqual(listedAs(pod), {
    name: 'web',
    namespace: 'default',
    items: [
      { id: 's1', state: 'sandbox ready' },
      { id: 's0', state: 'sandbox notReady' },
      { id: 'c1', state: 'running' },
      { id: 'c0', state: 'exited' },
    ],
  });
});
