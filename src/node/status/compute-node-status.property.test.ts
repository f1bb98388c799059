import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Node } from '../../gen/kubernetes/types.ts';
import { applyStrategicMergePatch } from '../../testing/apply-strategic-merge-patch.ts';
import { goldenInputs, goldenSettings } from '../../testing/node-world.ts';
import { nodeDiff } from '../node-diff.ts';
import { computeInitialNode } from '../register/compute-initial-node.ts';
import { reconcileExisting } from '../register/reconcile-existing.ts';
import { computeNodeStatus } from './compute-node-status.ts';
import { isSameNode } from './same-node.ts';
import type { NodeInputs } from './setter.ts';

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const foreignKey = word.map((name) => `example.com/${name}`);
const foreignType = word.map((name) => `Foreign${name}`);
const foreign = fc.record({
  labels: fc.dictionary(foreignKey, word, { maxKeys: 4 }),
  annotations: fc.dictionary(foreignKey, word, { maxKeys: 4 }),
  conditions: fc.uniqueArray(fc.record({ type: foreignType, status: fc.constantFrom('True', 'False') }), {
    selector: ({ type }) => type,
    maxLength: 4,
  }),
  capacity: fc.dictionary(foreignKey, fc.nat(9).map(String), { maxKeys: 3 }),
  unschedulable: fc.boolean(),
});

const inputs: fc.Arbitrary<NodeInputs> = fc
  .record({
    notReady: fc.array(word, { maxLength: 3 }),
    pressure: fc.record({ memory: fc.boolean(), disk: fc.boolean(), pid: fc.boolean() }),
    resolved: fc.constantFrom([], ['192.0.2.2'], ['203.0.113.1']),
    wasUnschedulable: fc.boolean(),
  })
  .map((given) => ({ ...goldenInputs, ...given }));

interface Foreign {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly unschedulable: boolean;
}

function nodeWith({ labels, annotations, conditions, capacity, unschedulable }: Foreign): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'vm', labels, annotations },
    spec: { unschedulable },
    status: { conditions, capacity },
  };
}

function assertKept(node: Node, others: Foreign): void {
  const has = (whole: object | undefined, part: object): void => assert.deepEqual({ ...whole, ...part }, { ...whole });
  has(node.metadata?.labels, others.labels);
  has(node.metadata?.annotations, others.annotations);
  has(node.status?.capacity, others.capacity);
  for (const condition of others.conditions) {
    const kept = node.status?.conditions?.find(({ type }) => type === condition.type);
    assert.deepEqual(kept, condition);
  }
  assert.equal(node.spec?.unschedulable, others.unschedulable);
}

test('fields of other writers outlive every status of ours, also in the patch', () => {
  fc.assert(
    fc.property(foreign, foreign, inputs, (known, meanwhile, given) => {
      const previous = nodeWith(known);
      const { node } = computeNodeStatus(previous, given, 1_000);
      assertKept(node, known);
      // The server has changed the node meanwhile: fields that the patch does not name stay.
      const onServer = nodeWith({ ...meanwhile, conditions: known.conditions });
      const after = applyStrategicMergePatch(onServer, nodeDiff(previous, node) ?? {}, 'Node');
      assertKept(after, { ...meanwhile, conditions: known.conditions });
    }),
  );
});

test('computing the written node again gives nothing to write', () => {
  fc.assert(
    fc.property(foreign, inputs, fc.nat(100_000), (known, given, laterMs) => {
      const first = computeNodeStatus(nodeWith(known), given, 1_000).node;
      const stored = JSON.parse(JSON.stringify(first)) as Node;
      const second = computeNodeStatus(stored, { ...given, wasUnschedulable: known.unschedulable }, 1_000 + laterMs);
      assert.ok(isSameNode(stored, second.node));
      assert.deepEqual(second.events, []);
    }),
  );
});

test('reconciling an existing node is idempotent and leaves others alone', () => {
  const initial = computeNodeStatus(computeInitialNode(goldenSettings), goldenInputs, 0).node;
  fc.assert(
    fc.property(foreign, (known) => {
      const once = reconcileExisting(initial, nodeWith(known), false);
      assertKept(once, known);
      assert.equal(nodeDiff(once, reconcileExisting(initial, once, false)), undefined);
    }),
  );
});
