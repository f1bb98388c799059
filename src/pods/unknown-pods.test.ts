import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { UnknownPods } from './unknown-pods.ts';

const uid = podUid('uid-1');

interface Facts {
  ready: boolean;
  listed: boolean;
  desired: boolean;
  worker: boolean;
  runtime: boolean;
  disk: boolean;
}

function unknownPods(facts: Facts, whileReading: () => void = () => {}): UnknownPods {
  return new UnknownPods({
    sources: { sourcesReady: () => facts.ready },
    desired: { has: () => facts.desired },
    lifecycles: { knows: () => facts.worker },
    observed: { hasBeenListed: () => facts.listed, listed: () => new Map(facts.runtime ? [[uid, {}]] : []) },
    directories: {
      uids: async () => {
        whileReading();
        return new Set(facts.disk ? [uid] : []);
      },
    },
  });
}

const nothing: Facts = { ready: true, listed: true, desired: false, worker: false, runtime: false, disk: false };

test('a pod is unknown when everything has been read and nothing has it', async () => {
  assert.equal(await unknownPods(nothing).trace(uid), 'none');
  assert.equal(await unknownPods({ ...nothing, disk: true }).trace(uid), 'onDisk');
  for (const fact of ['desired', 'worker', 'runtime'] as const) {
    assert.equal(await unknownPods({ ...nothing, [fact]: true, disk: true }).trace(uid), 'known', fact);
  }
  for (const fact of ['ready', 'listed'] as const) {
    assert.equal(await unknownPods({ ...nothing, [fact]: false }).trace(uid), 'known', `not ${fact}`);
  }
});

test('a pod that a source names while the disk is read is known', async () => {
  const facts = { ...nothing };
  const pods = unknownPods(facts, () => (facts.desired = true));
  assert.equal(await pods.trace(uid), 'known');
});
