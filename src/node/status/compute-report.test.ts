import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../gen/kubernetes/types.ts';
import { computeReport, type ReportInput, type ReportState } from './compute-report.ts';
import { isSameNode } from './same-node.ts';

const node = (ready: string, heartbeat = 't', more: Node['status'] = {}): Node => ({
  metadata: { labels: { a: 'b' } },
  status: { conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: heartbeat }], ...more },
});

describe('computeReport', () => {
  const input: ReportInput = { nowMs: 600_000, periodMs: 300_000, random: 0.75, graceUntilMs: 0, shuttingDown: false };
  const reported: ReportState = { lastMs: 500_000, delayMs: 0 };
  const table: readonly (readonly [
    title: string,
    nodes: readonly [before: Node, after: Node],
    state: ReportState,
    input: Partial<ReportInput>,
    expected: ReturnType<typeof computeReport>,
  ])[] = [
    ['only a heartbeat', [node('True'), node('True', 'u')], reported, {}, { kind: 'keep', why: 'same' }],
    ['a change', [node('False'), node('True')], reported, {}, { kind: 'send', why: 'changed', delayMs: 75_000 }],
    [
      'a change, with the least of luck',
      [node('True'), node('False')],
      reported,
      { random: 0 },
      { kind: 'send', why: 'changed', delayMs: -150_000 },
    ],
    ['the first of a life', [node('True'), node('True')], { delayMs: 0 }, {}, { kind: 'send', why: 'due', delayMs: 0 }],
    [
      'the period is over',
      [node('True'), node('True', 'u')],
      { lastMs: 300_000, delayMs: 0 },
      {},
      { kind: 'send', why: 'due', delayMs: 0 },
    ],
    [
      'the period was lengthened',
      [node('True'), node('True', 'u')],
      { lastMs: 300_000, delayMs: 1 },
      {},
      { kind: 'keep', why: 'same' },
    ],
    [
      'the period was shortened',
      [node('True'), node('True', 'u')],
      { lastMs: 400_000, delayMs: -100_000 },
      {},
      { kind: 'send', why: 'due', delayMs: 0 },
    ],
    [
      'after a start a ready node gets time',
      [node('True'), node('False')],
      { delayMs: 0 },
      { graceUntilMs: 600_001 },
      { kind: 'keep', why: 'startupGrace' },
    ],
    [
      'but not one that shuts down',
      [node('True'), node('False')],
      { delayMs: 0 },
      { graceUntilMs: 600_001, shuttingDown: true },
      { kind: 'send', why: 'changed', delayMs: 75_000 },
    ],
    [
      'one that was not ready needs none',
      [node('Unknown'), node('False')],
      { delayMs: 0 },
      { graceUntilMs: 600_001 },
      { kind: 'send', why: 'changed', delayMs: 75_000 },
    ],
  ];
  for (const [title, [before, after], state, more, expected] of table) {
    test(title, () => assert.deepEqual(computeReport(before, after, state, { ...input, ...more }), expected));
  }
});

describe('isSameNode', () => {
  test('empty and missing are equal', () => {
    const before = node('True', 't', { images: [{ sizeBytes: 1 }], volumesInUse: [] });
    assert.ok(isSameNode(before, node('True', 't', { images: [{ sizeBytes: 1, names: [] }] })));
    assert.ok(isSameNode(before, node('True', 't', JSON.parse('{"images":[{"sizeBytes":1,"names":null}]}') as object)));
  });

  test('a difference is one: status, labels, annotations, conditions in whatever order', () => {
    const before = node('True');
    assert.ok(!isSameNode(before, node('True', 't', { capacity: { cpu: '1' } })));
    assert.ok(!isSameNode(before, { ...before, metadata: {} }));
    assert.ok(!isSameNode(before, { ...before, metadata: { ...before.metadata, annotations: { x: 'y' } } }));
    assert.ok(!isSameNode(node('True', 't', { features: { supplementalGroupsPolicy: false } }), before));
    const two = [
      { type: 'A', status: 'True' },
      { type: 'B', status: 'False' },
    ];
    assert.ok(isSameNode({ status: { conditions: two } }, { status: { conditions: two.toReversed() } }));
    assert.ok(!isSameNode({ status: { conditions: two } }, { status: { conditions: two.slice(1) } }));
  });
});
