import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClusterTrustBundle } from '../../gen/kubernetes/types.ts';
import { computeAnchors } from './compute-anchors.ts';

const block = (der: Uint8Array, lineLength: number): string => {
  const body = Buffer.from(der)
    .toString('base64')
    .replace(new RegExp(`(.{${lineLength}})`, 'g'), '$1\n');
  return `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
};
const noise = fc.constantFrom('', '\n\n', '# subject\n', '-----BEGIN X-----\nYQ==\n-----END X-----\n', '-----');

test('the same certificates are the same text, however they are written, ordered, repeated and spread', () => {
  const written = fc.record({ at: fc.nat(7), line: fc.integer({ min: 1, max: 76 }), before: noise, bundle: fc.nat(2) });
  const certificates = fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 200 }), {
    minLength: 8,
    maxLength: 8,
    selector: (der) => Buffer.from(der).toString('hex'),
  });
  fc.assert(
    fc.property(certificates, fc.array(written, { maxLength: 24 }), (ders, parts) => {
      const texts = ['', '', ''];
      for (const { at, line, before, bundle } of parts) {
        texts[bundle] += `${before}${block(ders[at] ?? new Uint8Array(1), line)}`;
      }
      const bundles: readonly ClusterTrustBundle[] = texts.map((trustBundle) => ({
        spec: { signerName: 's', trustBundle },
      }));
      const text = computeAnchors(
        { path: 'p', signerName: 's', labelSelector: {} },
        { get: () => undefined, all: () => bundles },
      );
      const used = [...new Set(parts.map(({ at }) => at))].map((at) => Buffer.from(ders[at] ?? []));
      const expected = used
        .sort((one, other) => Buffer.compare(one, other))
        .map((der) => block(der, 64).replace('\n\n', '\n'));
      assert.equal(text, expected.join(''));
    }),
  );
});
