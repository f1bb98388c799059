import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterTrustBundle, ClusterTrustBundleProjection } from '../../gen/kubernetes/types.ts';
import { computeAnchors, concerns, projectionKey } from './compute-anchors.ts';

const pem = (bytes: string, kind = 'CERTIFICATE'): string =>
  `-----BEGIN ${kind}-----\n${Buffer.from(bytes).toString('base64')}\n-----END ${kind}-----\n`;

const bundle = (name: string, trustBundle: string, more: Partial<ClusterTrustBundle['spec']> = {}, tier = 'web') =>
  ({ metadata: { name, labels: { tier } }, spec: { trustBundle, ...more } }) satisfies ClusterTrustBundle;

const known = (...bundles: readonly ClusterTrustBundle[]) => ({
  get: (name: string) => bundles.find(({ metadata }) => metadata?.name === name),
  all: () => bundles,
});

const anchors = (
  projection: Partial<ClusterTrustBundleProjection>,
  ...bundles: readonly ClusterTrustBundle[]
): string => computeAnchors({ path: 'ca.pem', ...projection }, known(...bundles));

describe('the certificates of bundles', () => {
  test('by name: each once, in the order of their bytes, and nothing but certificates', () => {
    const text = ['of somebody', pem('b'), pem('a'), pem('k', 'PRIVATE KEY'), pem('b'), 'the end'].join('\n');
    assert.equal(anchors({ name: 'one' }, bundle('one', text)), pem('a') + pem('b'));
  });

  test('long ones are broken as programs expect it, and broken otherwise they are the same', () => {
    const long = 'x'.repeat(100);
    const base64 = Buffer.from(long).toString('base64');
    const written = `-----BEGIN CERTIFICATE-----\r\n${base64.replace(/(.{50})/g, '$1\r\n')}-----END CERTIFICATE-----`;
    const expected = `-----BEGIN CERTIFICATE-----\n${base64.slice(0, 64)}\n${base64.slice(64, 128)}\n${base64.slice(128)}\n-----END CERTIFICATE-----\n`;
    assert.equal(anchors({ name: 'one' }, bundle('one', written + written)), expected);
  });

  test('what is no PEM is left out', () => {
    const texts = [
      '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\nA: b\n\nYWJj\n-----END CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\nYWJj',
      '-----BEGIN CERTIFICATE----------END CERTIFICATE-----',
    ];
    for (const text of texts) assert.equal(anchors({ name: 'one' }, bundle('one', text)), '', text);
    assert.equal(anchors({ name: 'one' }, bundle('one', texts.join('\n') + pem('a'))), pem('a'));
  });

  const ofSigner = { signerName: 'example.com/ca' };
  const bundles = [
    bundle('none', pem('n')),
    bundle('two', pem('b') + pem('c'), ofSigner),
    bundle('one', pem('a') + pem('b'), ofSigner),
    bundle('db', pem('d'), ofSigner, 'db'),
    bundle('other', pem('o'), { signerName: 'example.com/other' }),
  ];
  const rows: readonly (readonly [string, Partial<ClusterTrustBundleProjection>, string])[] = [
    ['all of a signer', { ...ofSigner, labelSelector: {} }, 'abcd'],
    ['some of a signer', { ...ofSigner, labelSelector: { matchLabels: { tier: 'web' } } }, 'abc'],
    ['a bundle of a signer by its name', { name: 'two' }, 'bc'],
    ['none, which is fine', { ...ofSigner, optional: true }, ''],
    ['none of that name, which is fine', { name: 'gone', optional: true }, ''],
  ];
  for (const [name, projection, letters] of rows) {
    test(name, () =>
      assert.equal(
        anchors(projection, ...bundles),
        letters
          .split('')
          .map((letter) => pem(letter))
          .join(''),
      ),
    );
  }

  const refusals: readonly (readonly [string, Partial<ClusterTrustBundleProjection>, string])[] = [
    [
      'no bundle of that name',
      { name: 'gone' },
      'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "gone" not found',
    ],
    [
      'without a selector nothing is selected',
      ofSigner,
      'combination of signerName and labelSelector matched zero ClusterTrustBundles',
    ],
    [
      'nothing of that signer',
      { signerName: 'example.com/gone', labelSelector: {} },
      'combination of signerName and labelSelector matched zero ClusterTrustBundles',
    ],
    [
      'a selector without end',
      { ...ofSigner, labelSelector: { matchLabels: { a: 'x'.repeat(102_400) } } },
      'label selector length (102402) is larger than 102400',
    ],
    ['neither a name nor a signer', {}, 'either name or signerName must be specified'],
  ];
  for (const [name, projection, message] of refusals) {
    test(name, () => assert.throws(() => anchors(projection, ...bundles), { message }));
  }
});

test('a bundle concerns those who name it, and those who take bundles of its signer', () => {
  const changed = bundle('one', '', { signerName: 's' });
  const concerned = (projection: Partial<ClusterTrustBundleProjection>): boolean =>
    concerns({ path: 'p', ...projection }, changed);
  assert.deepEqual([{ name: 'one' }, { name: 'two' }, { signerName: 's' }, { signerName: 't' }].map(concerned), [
    true,
    false,
    true,
    false,
  ]);
  assert.equal(concerns({ path: 'p', signerName: 's' }, bundle('one', '')), false);
});

test('projections are equal when their answers are', () => {
  const one = projectionKey({ path: 'a', signerName: 's', labelSelector: { matchLabels: { b: '1', a: '2' } } });
  assert.equal(projectionKey({ path: 'b', signerName: 's', labelSelector: { matchLabels: { a: '2', b: '1' } } }), one);
  assert.notEqual(
    projectionKey({ path: 'a', signerName: 's', labelSelector: {} }),
    projectionKey({ path: 'a', signerName: 's' }),
  );
  assert.notEqual(projectionKey({ path: 'a', name: 's' }), projectionKey({ path: 'a', signerName: 's' }));
});
