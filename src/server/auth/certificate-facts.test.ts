import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameIds, oddCertificate, type NamePart } from '../../testing/odd-certificates.ts';
import { readCertificate } from './certificate-facts.ts';
import { readObjectId, readValues } from './der-reader.ts';

const { cn, o, uid } = nameIds;
const times = { notBefore: Date.UTC(2025), notAfter: Date.UTC(2035) };
const subjectOf = (...subject: readonly (readonly NamePart[])[]) =>
  readCertificate(oddCertificate({ ...times, subject }).der).subject;

const tags = { utf8: 0x0c, numeric: 0x12, printable: 0x13, teletex: 0x14, ia5: 0x16, universal: 0x1c, bmp: 0x1e };

test('whom a certificate is about', () => {
  const table: readonly (readonly [string, readonly (readonly NamePart[])[], string, readonly string[], string?])[] = [
    ['nothing at all', [], '', []],
    [
      'several organizations in one set',
      [
        [
          [o, 'a'],
          [o, 'b'],
        ],
        [[cn, 'ann']],
      ],
      'ann',
      ['a', 'b'],
    ],
    ['several sets', [[[o, 'a']], [[cn, 'ann']], [[o, 'b']], [[o, 'a']]], 'ann', ['a', 'b', 'a']],
    ['the last name counts', [[[cn, 'ann']], [[cn, 'bob']]], 'bob', []],
    [
      'characters that other notations escape',
      [[[o, 'a, O=system:masters']], [[o, 'b\nO=c']], [[o, 'd/O=e+f\\"<>;#']], [[cn, ' CN=x, y ']]],
      ' CN=x, y ',
      ['a, O=system:masters', 'b\nO=c', 'd/O=e+f\\"<>;#'],
    ],
    ['every script', [[[o, 'Größe 節点 🙂']], [[cn, 'ann\u0000bob']]], 'ann\u0000bob', ['Größe 節点 🙂']],
    ['a byte order mark is a character', [[[cn, '\uFEFFann']]], '\uFEFFann', []],
    [
      'printable',
      [[[cn, 'ann', tags.printable]], [[o, 'x@y', tags.ia5]], [[o, '12', tags.numeric]]],
      'ann',
      ['x@y', '12'],
    ],
    ['teletex is Latin 1', [[[cn, Buffer.from([0xe9]), tags.teletex]]], 'é', []],
    ['two bytes each', [[[cn, Buffer.from([0x00, 0x61, 0x7b, 0xc0]), tags.bmp]]], 'a節', []],
    ['with a user id', [[[uid, '42']], [[cn, 'ann']]], 'ann', [], '42'],
    ['others are passed over', [[['2.5.4.6', 'DE']], [['2.5.4.11', 'unit']], [[cn, 'ann']]], 'ann', []],
  ];
  for (const [what, subject, commonName, organizations, id] of table) {
    assert.deepEqual(subjectOf(...subject), { commonName, organizations, uid: id }, what);
  }
});

test('texts that are none', () => {
  const table: readonly (readonly [string, readonly NamePart[]])[] = [
    ['no UTF-8', [[cn, Buffer.from([0xff, 0xfe])]]],
    ['half a character', [[cn, Buffer.from([0x00]), tags.bmp]]],
    ['not ASCII', [[o, 'é', tags.printable]]],
    ['another kind of value', [[o, Buffer.from([1]), 0x02]]],
    ['a kind that is never used', [[cn, Buffer.from([0, 0, 0, 0x61]), tags.universal]]],
    [
      'two user ids',
      [
        [uid, '1'],
        [uid, '2'],
      ],
    ],
  ];
  for (const [what, parts] of table) assert.throws(() => subjectOf(parts), { kind: 'invalid' }, what);
});

test('what limits a certificate', () => {
  const facts = readCertificate(
    oddCertificate({ ...times, subject: [], authority: 3, usages: ['1.2.3'], critical: ['1.2.840.99999.1'] }).der,
  );
  assert.equal(facts.pathLength, 3);
  assert.deepEqual(facts.criticalExtensions, ['2.5.29.19', '1.2.840.99999.1']);
  assert.equal(facts.signatureAlgorithm, '1.2.840.10045.4.3.2');
  const free = readCertificate(oddCertificate({ ...times, subject: [], authority: true }).der);
  assert.equal(free.pathLength, undefined);
});

test('object identifiers', () => {
  const read = (hex: string): string => readObjectId(readValues(Buffer.from(hex, 'hex'))[0]);
  assert.equal(read('0603551d25'), '2.5.29.37');
  assert.equal(read('06082a8648ce3d040302'), '1.2.840.10045.4.3.2');
  assert.equal(read('0603883703'), '2.999.3');
  for (const hex of ['0600', '060180', '060280', '0609ffffffffffffffff7f', '020101']) {
    assert.throws(() => read(hex), { kind: 'invalid' }, hex);
  }
});
