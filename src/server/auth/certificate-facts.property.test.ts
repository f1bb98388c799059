import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameIds, oddCertificate, type NamePart } from '../../testing/odd-certificates.ts';
import { readCertificate } from './certificate-facts.ts';

const { cn, o } = nameIds;
const times = { notBefore: Date.UTC(2025), notAfter: Date.UTC(2035) };
const subjectOf = (...subject: readonly (readonly NamePart[])[]) =>
  readCertificate(oddCertificate({ ...times, subject }).der).subject;

test('any names come back as they were', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 5 }), (name, groups) => {
      const subject = subjectOf(...groups.map((group) => [[o, group]] as const), [[cn, name]]);
      assert.deepEqual(subject, { commonName: name, organizations: groups, uid: undefined });
    }),
    { numRuns: 60 },
  );
});

test('any bytes are read or refused, without an end beyond them', () => {
  const { der } = oddCertificate({ ...times, subject: [[[cn, 'ann']]] });
  const refused = (bytes: Buffer): void => {
    try {
      readCertificate(bytes);
    } catch (error) {
      assert.equal((error as { kind?: string }).kind, 'invalid', String(error));
    }
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => refused(Buffer.from(bytes))));
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(der);
      changed.writeUInt8(byte, at);
      refused(changed);
    }),
  );
});
