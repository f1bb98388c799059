import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Masked } from '../../base/masked.ts';
import { makeCredential, nodeSource } from '../credentials/credential.ts';
import {
  decodeIntent,
  decodePulled,
  encodeIntent,
  encodePulled,
  shownBy,
  withCredentials,
  type PullCredentials,
  type PulledRecord,
} from './pull-record.ts';

const time = '2025-01-01T00:00:00Z';
const later = '2025-01-02T00:00:00Z';
const secret = (name: string, credentialHash = 'h', uid = '1') => ({ uid, namespace: 'ns', name, credentialHash });

describe('on disk', () => {
  test('records are as other kubelets write them', () => {
    assert.equal(
      encodeIntent('docker.io/testing/test:latest'),
      '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1alpha1","image":"docker.io/testing/test:latest"}\n',
    );
    const record = {
      lastUpdatedTime: time,
      imageRef: 'sha256:1',
      credentialMapping: { 'a.example/app': { kubernetesSecrets: [secret('s')] } },
    };
    assert.equal(
      encodePulled(record),
      '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1",' +
        '"lastUpdatedTime":"2025-01-01T00:00:00Z","imageRef":"sha256:1","credentialMapping":{"a.example/app":' +
        '{"kubernetesSecrets":[{"uid":"1","namespace":"ns","name":"s","credentialHash":"h"}]}}}\n',
    );
  });

  test('what was written can be read', () => {
    assert.equal(decodeIntent(encodeIntent('app:1')), 'app:1');
    const mapping: Readonly<Record<string, PullCredentials>> = {
      a: { nodePodsAccessible: true },
      b: { kubernetesSecrets: [secret('s')] },
      c: { kubernetesServiceAccounts: [{ uid: '1', namespace: 'ns', name: 'bot' }] },
    };
    for (const credentialMapping of [mapping, {}]) {
      const record = { lastUpdatedTime: time, imageRef: 'sha256:1', credentialMapping };
      assert.deepEqual(decodePulled(encodePulled(record)), record);
    }
  });

  test('an invalid record is refused: it must not grant access', () => {
    const good = JSON.parse(
      encodePulled({
        lastUpdatedTime: time,
        imageRef: 'sha256:1',
        credentialMapping: { a: { kubernetesSecrets: [secret('s')] } },
      }),
    ) as object;
    const bad: readonly object[] = [
      { kind: 'ImagePullIntent' },
      { apiVersion: 'kubelet.config.k8s.io/v9' },
      { imageRef: 5 },
      { lastUpdatedTime: null },
      { credentialMapping: [] },
      { credentialMapping: { a: 'x' } },
      { credentialMapping: { a: { nodePodsAccessible: 'yes' } } },
      { credentialMapping: { a: { kubernetesSecrets: {} } } },
      { credentialMapping: { a: { kubernetesSecrets: [{ name: 's' }] } } },
      { credentialMapping: { a: { kubernetesServiceAccounts: [1] } } },
    ];
    decodePulled(JSON.stringify(good));
    for (const more of bad) {
      assert.throws(
        () => decodePulled(JSON.stringify({ ...good, ...more })),
        { kind: 'invalid' },
        JSON.stringify(more),
      );
    }
    for (const text of ['', '{', 'null', '[]']) assert.throws(() => decodePulled(text), { kind: 'invalid' }, text);
  });
});

test('what a pull proves depends on the source of its credential', () => {
  const auth = new Masked({ username: 'u', password: 'p' });
  const place = { uid: '1', namespace: 'ns', name: 's' };
  assert.deepEqual(shownBy(undefined), { nodePodsAccessible: true });
  assert.deepEqual(shownBy(makeCredential(auth, nodeSource)), { nodePodsAccessible: true });
  const own = makeCredential(auth, { kind: 'secret', ...place });
  assert.deepEqual(shownBy(own), { kubernetesSecrets: [{ ...place, credentialHash: own.hash.reveal() }] });
  assert.deepEqual(shownBy(makeCredential(auth, { kind: 'serviceAccount', ...place })), {
    kubernetesServiceAccounts: [place],
  });
});

describe('new knowledge', () => {
  const record: PulledRecord = { lastUpdatedTime: time, imageRef: 'sha256:1', credentialMapping: {} };
  const after = (known: PullCredentials | undefined, shown: PullCredentials): PulledRecord => {
    const credentialMapping = known === undefined ? {} : { a: known };
    return withCredentials({ ...record, credentialMapping }, 'a', shown, later);
  };
  const table: readonly (readonly [what: string, PullCredentials | undefined, PullCredentials, PullCredentials])[] = [
    ['first', undefined, { kubernetesSecrets: [secret('s')] }, { kubernetesSecrets: [secret('s')] }],
    [
      'open from now on',
      { kubernetesSecrets: [secret('s')] },
      { nodePodsAccessible: true },
      { nodePodsAccessible: true },
    ],
    [
      'one more secret, in order',
      { kubernetesSecrets: [secret('b')] },
      { kubernetesSecrets: [secret('a')] },
      { kubernetesSecrets: [secret('a'), secret('b')] },
    ],
    [
      'a changed secret',
      { kubernetesSecrets: [secret('a', 'old'), secret('b')] },
      { kubernetesSecrets: [secret('a', 'new')] },
      { kubernetesSecrets: [secret('a', 'new'), secret('b')] },
    ],
    [
      'an account beside a secret',
      { kubernetesSecrets: [secret('a')] },
      { kubernetesServiceAccounts: [{ uid: '1', namespace: 'ns', name: 'bot' }] },
      { kubernetesSecrets: [secret('a')], kubernetesServiceAccounts: [{ uid: '1', namespace: 'ns', name: 'bot' }] },
    ],
  ];
  for (const [what, known, shown, expected] of table) {
    test(what, () => {
      const merged = after(known, shown);
      assert.deepEqual(merged.credentialMapping, { a: expected });
      assert.equal(merged.lastUpdatedTime, later);
    });
  }

  test('nothing new is the same record', () => {
    for (const [known, shown] of [
      [{ nodePodsAccessible: true }, { kubernetesSecrets: [secret('s')] }],
      [{ nodePodsAccessible: true }, { nodePodsAccessible: true }],
      [{ kubernetesSecrets: [secret('s'), secret('t')] }, { kubernetesSecrets: [secret('t')] }],
    ] as const) {
      const before = { ...record, credentialMapping: { a: known } };
      assert.equal(withCredentials(before, 'a', shown, later), before);
    }
  });

  test('about one name says nothing about others', () => {
    const before = { ...record, credentialMapping: { b: { nodePodsAccessible: true } } };
    const merged = withCredentials(before, 'a', { kubernetesSecrets: [secret('s')] }, later);
    assert.deepEqual(merged.credentialMapping['b'], { nodePodsAccessible: true });
  });
});
