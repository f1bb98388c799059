import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createStrategicMergePatch } from './strategic-merge-patch.ts';
import { applyStrategicMergePatch } from '../testing/apply-strategic-merge-patch.ts';

const condition = (type: string, status: string, more: object = {}) => ({ type, status, ...more });

describe('the patch from one state to another', () => {
  test('names changed items of a keyed list by their key, with the order of all', () => {
    const original = { status: { conditions: [condition('A', 'True', { reason: 'r' }), condition('B', 'True')] } };
    const modified = { status: { conditions: [condition('A', 'False', { reason: 'r' }), condition('B', 'True')] } };
    assert.deepEqual(createStrategicMergePatch(original, modified, 'Pod'), {
      status: {
        '$setElementOrder/conditions': [{ type: 'A' }, { type: 'B' }],
        conditions: [{ type: 'A', status: 'False' }],
      },
    });
  });

  test('deletes fields by null and items by a directive', () => {
    const original = {
      metadata: { labels: { a: '1', b: '2' } },
      status: { conditions: [condition('A', 'True')], reason: 'x' },
    };
    const modified = { metadata: { labels: { a: '1' } }, status: { conditions: [], reason: undefined } };
    assert.deepEqual(createStrategicMergePatch(original, modified, 'Pod'), {
      metadata: { labels: { b: null } },
      status: { reason: null, conditions: [{ $patch: 'delete', type: 'A' }] },
    });
  });

  test('knows a label with the name of something that every object inherits', () => {
    const labelled = { metadata: { labels: { constructor: 'x', toString: 'y' } } };
    const bare = { metadata: { labels: {} } };
    const removal = { metadata: { labels: { constructor: null, toString: null } } };
    assert.deepEqual(createStrategicMergePatch(labelled, bare, 'Pod'), removal);
    assert.deepEqual(createStrategicMergePatch(bare, labelled, 'Pod'), labelled);
    assert.deepEqual(applyStrategicMergePatch(bare, labelled, 'Pod'), labelled);
    assert.deepEqual(applyStrategicMergePatch(labelled, removal, 'Pod'), bare);
  });

  test('sends lists without a key as a whole, and nothing of what is equal', () => {
    const original = { status: { images: [{ names: ['a'] }], phase: 'x', capacity: { cpu: '1' } } };
    const modified = { status: { images: [{ names: ['b'] }], phase: 'x', capacity: { cpu: '1' } } };
    assert.deepEqual(createStrategicMergePatch(original, modified, 'Node'), { status: { images: [{ names: ['b'] }] } });
    assert.deepEqual(createStrategicMergePatch(original, original, 'Node'), {});
    assert.deepEqual(createStrategicMergePatch({ a: undefined, b: null }, {}, 'Node'), {});
  });

  test('replaces a keyed list whose keys are not unique, or that the caller wants as a whole', () => {
    const one = { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } };
    const two = { status: { addresses: [...one.status.addresses, { type: 'InternalIP', address: 'fd00::1' }] } };
    const replaced = { status: { addresses: [...two.status.addresses, { $patch: 'replace' }] } };
    assert.deepEqual(createStrategicMergePatch(one, two, 'Node'), replaced);
    assert.deepEqual(createStrategicMergePatch(two, one, 'Node', { replaceLists: ['status.addresses'] }), {
      status: { addresses: [...one.status.addresses, { $patch: 'replace' }] },
    });
    assert.deepEqual(createStrategicMergePatch(one, one, 'Node', { replaceLists: ['status.addresses'] }), {});
  });

  test('patches sets of plain values by what was added and removed', () => {
    const patch = createStrategicMergePatch(
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['b', 'c'] } },
      'Pod',
    );
    assert.deepEqual(patch, {
      metadata: {
        '$setElementOrder/finalizers': ['b', 'c'],
        '$deleteFromPrimitiveList/finalizers': ['a'],
        finalizers: ['c'],
      },
    });
  });
});

describe('a patch applied', () => {
  test('leaves what its author did not know, in its place', () => {
    const mine = { status: { conditions: [condition('A', 'True'), condition('B', 'True')] } };
    const patch = createStrategicMergePatch(
      mine,
      { status: { conditions: [condition('A', 'False'), condition('B', 'True'), condition('C', 'True')] } },
      'Pod',
    );
    const theirs = {
      status: {
        conditions: [condition('F', 'True'), condition('A', 'True'), condition('G', 'True'), condition('B', 'True')],
      },
    };
    assert.deepEqual(
      applyStrategicMergePatch(theirs, patch, 'Pod').status.conditions.map(({ type, status }) => `${type}=${status}`),
      ['F=True', 'A=False', 'G=True', 'B=True', 'C=True'],
    );
    assert.equal(theirs.status.conditions.length, 4);
  });

  test('heeds directives', () => {
    const pod = {
      spec: { volumes: [{ name: 'v', emptyDir: {} }], nodeSelector: { a: '1' } },
      metadata: { finalizers: ['x'] },
    };
    const apply = (patch: unknown): object => applyStrategicMergePatch(pod, patch, 'Pod');
    assert.deepEqual(apply({ spec: { nodeSelector: { $patch: 'replace', b: '2' } } }), {
      ...pod,
      spec: { ...pod.spec, nodeSelector: { b: '2' } },
    });
    assert.deepEqual(
      apply({ spec: { volumes: [{ name: 'v', hostPath: { path: '/' }, $retainKeys: ['name', 'hostPath'] }] } }),
      {
        ...pod,
        spec: { ...pod.spec, volumes: [{ name: 'v', hostPath: { path: '/' } }] },
      },
    );
    assert.deepEqual(apply({ spec: { volumes: [{ name: 'w' }, { $patch: 'replace' }] } }), {
      ...pod,
      spec: { ...pod.spec, volumes: [{ name: 'w' }] },
    });
    assert.deepEqual(apply({ metadata: { finalizers: ['y', 'x'] } }), { ...pod, metadata: { finalizers: ['x', 'y'] } });
    assert.deepEqual(apply({ metadata: { new: { a: null, b: 1 } } }), {
      ...pod,
      metadata: { finalizers: ['x'], new: { b: 1 } },
    });
  });

  test('is refused where it makes no sense', () => {
    for (const patch of [
      [],
      'x',
      { spec: { $patch: 'burn' } },
      { spec: { volumes: ['x'] } },
      { spec: { volumes: [{}] } },
    ]) {
      assert.throws(() => applyStrategicMergePatch({}, patch, 'Pod'), { kind: 'invalid' });
    }
  });
});
