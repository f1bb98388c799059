import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CSINode, CSINodeDriver, Node } from '../../gen/kubernetes/types.ts';
import type { StorageDriver } from '../../model/storage-driver.ts';
import { nextCsiNode, nodeDriverPatch, nodeIdsAnnotation, topologyCollision } from './compute-drivers.ts';

const driver = (more: Partial<StorageDriver> = {}): StorageDriver => ({
  nodeId: 'n',
  topology: {},
  maxVolumes: undefined,
  ...more,
});
const entry = (name: string, more: Partial<CSINodeDriver> = {}): CSINodeDriver => ({
  name,
  nodeID: 'n',
  topologyKeys: [],
  ...more,
});

test('the record, step by step', () => {
  interface Row {
    readonly what: string;
    readonly present: readonly CSINodeDriver[];
    readonly wanted: StorageDriver | undefined;
    /** The drivers of each record on the way. */
    readonly steps: readonly (readonly CSINodeDriver[])[];
  }
  const full = entry('d', { topologyKeys: ['a', 'b'], allocatable: { count: 3 } });
  const topology = { b: '2', a: '1' };
  const table: readonly Row[] = [
    { what: 'new', present: [], wanted: driver({ topology, maxVolumes: 3 }), steps: [[full]] },
    { what: 'beside others', present: [entry('o')], wanted: driver(), steps: [[entry('o'), entry('d')]] },
    { what: 'as it is', present: [full], wanted: driver({ topology, maxVolumes: 3 }), steps: [] },
    {
      what: 'in another order',
      present: [{ ...full, topologyKeys: ['b', 'a'] }],
      wanted: driver({ topology, maxVolumes: 3 }),
      steps: [],
    },
    { what: 'no list of keys', present: [{ name: 'd', nodeID: 'n' }], wanted: driver(), steps: [] },
    { what: 'another id', present: [entry('d', { nodeID: 'old' })], wanted: driver(), steps: [[], [entry('d')]] },
    {
      what: 'another limit',
      present: [full],
      wanted: driver({ topology }),
      steps: [[], [{ ...entry('d'), topologyKeys: ['a', 'b'] }]],
    },
    { what: 'gone', present: [entry('o'), full], wanted: undefined, steps: [[entry('o')]] },
    { what: 'gone already', present: [entry('o')], wanted: undefined, steps: [] },
  ];
  for (const { what, present, wanted, steps } of table) {
    let record: CSINode = { metadata: { name: 'vm', resourceVersion: '7' }, spec: { drivers: present } };
    for (const drivers of [...steps, undefined]) {
      const next = nextCsiNode(record, new Map([['d', wanted]]));
      assert.deepEqual(next?.spec.drivers, drivers, what);
      if (next !== undefined) record = next;
    }
    assert.equal(record.metadata?.resourceVersion, '7');
  }
});

test('the node', () => {
  const node = (ids: string | undefined, labels: Record<string, string> = {}): Node => ({
    metadata: { labels, ...(ids !== undefined && { annotations: { [nodeIdsAnnotation]: ids } }) },
  });
  const ids = (text: string | null) => ({ annotations: { [nodeIdsAnnotation]: text } });
  const place = driver({ topology: { zone: 'a' } });
  const table: readonly (readonly [string, Node, StorageDriver | undefined, unknown])[] = [
    ['first', node(undefined), driver(), ids('{"d":"n"}')],
    ['sorted in', node('{"z":"1","a":"2"}'), driver(), ids('{"a":"2","d":"n","z":"1"}')],
    ['another id', node('{"d":"old"}'), driver(), ids('{"d":"n"}')],
    ['as it is', node('{"z":"1", "d":"n"}'), driver(), undefined],
    ['broken', node('{{'), driver(), ids('{"d":"n"}')],
    ['no object', node('[1]'), driver(), ids('{"d":"n"}')],
    ['with its place', node(undefined), place, { ...ids('{"d":"n"}'), labels: { zone: 'a' } }],
    ['only the place', node('{"d":"n"}'), place, { labels: { zone: 'a' } }],
    ['place known', node('{"d":"n"}', { zone: 'a' }), place, undefined],
    ['gone, the last', node('{"d":"n"}', { zone: 'a' }), undefined, ids(null)],
    ['gone, others stay', node('{"d":"n","e":"m"}'), undefined, ids('{"e":"m"}')],
    ['gone already', node('{"e":"m"}'), undefined, undefined],
    ['never there', node(undefined), undefined, undefined],
  ];
  for (const [what, before, wanted, metadata] of table) {
    assert.deepEqual(nodeDriverPatch(before, 'd', wanted), metadata === undefined ? undefined : { metadata }, what);
  }
  assert.equal(topologyCollision(node(undefined, { zone: 'a' }), place), undefined);
  assert.equal(topologyCollision(node(undefined), place), undefined);
  assert.equal(
    topologyCollision(node(undefined, { zone: 'b' }), place),
    'reports zone=a, and the node is labelled zone=b',
  );
});
