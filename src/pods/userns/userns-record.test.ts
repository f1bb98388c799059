import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatRecord, parseRecord } from './userns-record.ts';

const block = { hostId: 131_072, length: 65_536 };
const text =
  '{"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],' +
  '"gidMappings":[{"hostId":131072,"containerId":0,"length":65536}]}';

test('written as the kubelet writes it, and read back', () => {
  assert.equal(formatRecord(block), text);
  assert.deepEqual(parseRecord(text), { block });
  assert.deepEqual(parseRecord(` ${text}\n`), { block });
});

describe('what no kubelet wrote', () => {
  const mapping = (more: object = {}): object => ({ hostId: 131_072, containerId: 0, length: 65_536, ...more });
  const both = (more: object): string => JSON.stringify({ uidMappings: [mapping(more)], gidMappings: [mapping(more)] });
  const table: readonly (readonly [string, RegExp])[] = [
    ['', /^it is empty$/],
    [text.slice(0, 40), /^it is not JSON: /],
    ['null', /^uidMappings is not a list of one$/],
    ['{}', /^uidMappings is not a list of one$/],
    [JSON.stringify({ uidMappings: [], gidMappings: [] }), /^uidMappings is not a list of one$/],
    [JSON.stringify({ uidMappings: [mapping()] }), /^gidMappings is not a list of one$/],
    [JSON.stringify({ uidMappings: [mapping()], gidMappings: [mapping(), mapping()] }), /^gidMappings is not a list/],
    [JSON.stringify({ uidMappings: [mapping()], gidMappings: [mapping({ hostId: 65_536 })] }), /differ$/],
    [JSON.stringify({ uidMappings: [mapping()], gidMappings: [mapping({ length: 131_072 })] }), /differ$/],
    [both({ containerId: 1 }), /does not begin at the pod's root$/],
    [both({ containerId: undefined }), /does not begin at the pod's root$/],
    [both({ hostId: 0 }), /^hostId and length of uidMappings are not multiples of 65536 above 0$/],
    [both({ hostId: 131_073 }), /not multiples of 65536/],
    [both({ hostId: -65_536 }), /not multiples of 65536/],
    [both({ hostId: '131072' }), /not multiples of 65536/],
    [both({ length: 0 }), /not multiples of 65536/],
    [both({ length: 65_535 }), /not multiples of 65536/],
  ];
  for (const [written, problem] of table) {
    test(written === '' ? '(nothing)' : written, () => {
      const reading = parseRecord(written);
      assert.match('problem' in reading ? reading.problem : 'believed', problem);
    });
  }
});
