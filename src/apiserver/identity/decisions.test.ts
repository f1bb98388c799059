import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import type { Random } from '../../base/random.ts';
import { readCsr } from '../../testing/read-csr.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { createKey } from '../x509/keys.ts';
import { planBootstrap, type KubeconfigFinding } from './bootstrap-plan.ts';
import { pollDelayMs } from './csr-outcome.ts';
import { clientShape, csrName, csrObject, servingShape } from './csr-shape.ts';
import { decideRotation, retryDelayMs, rotationDeadline, usualWindow } from './rotation-plan.ts';

const always = (value: number): Random => ({ next: () => value, hex: () => '' });

test('whether to bootstrap', () => {
  const now = 1_000;
  const good: KubeconfigFinding = { kind: 'certificate', notAfter: 1_001 };
  const expired: KubeconfigFinding = { kind: 'certificate', notAfter: 1_000 };
  const bad: KubeconfigFinding = { kind: 'badCertificate', why: 'no such file' };
  const broken: KubeconfigFinding = { kind: 'broken', why: 'line 3' };
  const table: readonly (readonly [KubeconfigFinding, number | undefined, without: string, withBootstrap: string])[] = [
    [good, undefined, 'keep', 'keep'],
    [good, 2_000, 'keep', 'keep'],
    [{ kind: 'otherCredentials' }, undefined, 'keep', 'keep'],
    [{ kind: 'missing' }, undefined, 'fail', 'request'],
    [{ kind: 'missing' }, 2_000, 'fail', 'finish'],
    [{ kind: 'missing' }, 1_000, 'fail', 'request'],
    [broken, undefined, 'fail', 'request'],
    [broken, 2_000, 'fail', 'finish'],
    [bad, undefined, 'fail', 'request'],
    [expired, undefined, 'keep', 'request'],
    [expired, 500, 'keep', 'request'],
    [expired, 2_000, 'keep', 'finish'],
    [{ kind: 'anonymous' }, undefined, 'keep', 'request'],
  ];
  for (const [kubeconfig, notAfter, without, withBootstrap] of table) {
    const stored = notAfter === undefined ? undefined : { notAfter };
    const of = (canBootstrap: boolean): string => planBootstrap({ now, kubeconfig, canBootstrap, stored }).act;
    assert.deepEqual([of(false), of(true)], [without, withBootstrap], JSON.stringify([kubeconfig, notAfter]));
  }
  const { why } = planBootstrap({ now, kubeconfig: expired, canBootstrap: false, stored: undefined });
  assert.equal(why, 'the client certificate of the kubeconfig expired at 1970-01-01T00:00:01.000Z');
});

test('a rotation falls between 70 and 90 % of a lifetime', () => {
  const life = { notBefore: 1_000, notAfter: 2_000 };
  assert.equal(rotationDeadline(life, always(0), usualWindow), 1_700);
  assert.equal(Math.round(rotationDeadline(life, always(0.5), usualWindow)), 1_800);
  const random = seededRandom(7);
  for (let n = 0; n < 500; n++) {
    const at = rotationDeadline(life, random, usualWindow);
    assert.ok(at >= 1_700 && at < 1_900, String(at));
  }
});

test('the waits after failures', () => {
  const waits = [1, 2, 3, 4, 5, 6, 100].map((failures) => retryDelayMs(failures, always(0)));
  assert.deepEqual(waits, [2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]);
  assert.equal(Math.round(retryDelayMs(1, always(0.999_999))), 2_200);
  assert.deepEqual([pollDelayMs(0), pollDelayMs(1), pollDelayMs(50)], [100, 150, 10_000]);
});

test('when to ask for a certificate', () => {
  const current = { notBefore: 0, notAfter: 10_000_000 };
  const calm = { now: 100, current, rotateAt: 8_000_000, canRequest: true, isFitting: true };
  const table: readonly (readonly [Partial<typeof calm> | { current: undefined }, string | number])[] = [
    [{}, 3_600_000],
    [{ now: 7_999_000 }, 1_000],
    [{ now: 8_000_000 }, 'the certificate comes to its end'],
    [{ now: 10_000_000 }, 'the certificate has expired'],
    [{ isFitting: false }, 'the certificate does not have the wanted contents any more'],
    [{ current: undefined }, 'there is no certificate'],
    [{ current: undefined, canRequest: false }, 3_600_000],
    [{ now: 9_000_000, canRequest: false }, 3_600_000],
  ];
  for (const [change, expected] of table) {
    const step = decideRotation({ ...calm, ...change });
    assert.equal(step.act === 'wait' ? step.forMs : step.why, expected, JSON.stringify(change));
  }
});

test('the request for a client certificate', async () => {
  const key = await createKey();
  const shape = clientShape('worker-1');
  const { metadata, spec, ...rest } = csrObject(key, shape);
  assert.deepEqual(rest, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' });
  assert.equal(spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet');
  assert.deepEqual(spec.usages, ['digital signature', 'client auth']);
  const asked = readCsr(Buffer.from(spec.request, 'base64').toString());
  assert.deepEqual([asked.commonName, asked.organizations], ['system:node:worker-1', ['system:nodes']]);
  assert.deepEqual([asked.dnsNames, asked.ipAddresses], [[], []]);
  // A request has another signature each time, and the same name.
  assert.deepEqual(metadata, csrObject(key, shape).metadata);
  assert.notEqual(csrName(await createKey(), shape), metadata?.name);
  assert.notEqual(csrName(key, clientShape('worker-2')), metadata?.name);
});

test('the name of a request is the one the Go kubelet derives', () => {
  const key = createPrivateKey(
    '-----BEGIN EC PRIVATE KEY-----\n' +
      'MHcCAQEEIOrYWvi8d6K1C2GD1vhbBe2xSJ9G+44riy2UpImoLUthoAoGCCqGSM49\n' +
      'AwEHoUQDQgAEyqUAHS0quKyqbrcDCPtC9vm7mAXyj7lBzddNc788SIALPgmw3P5y\n' +
      'ObwtbBbQhquMK+mE+bczQ4UFL+oNfd/xnQ==\n' +
      '-----END EC PRIVATE KEY-----\n',
  );
  assert.equal(csrName(key, clientShape('worker-1')), 'node-csr-RbgkJM0-TZjJ3S2vJn9-mY34YvSMDR5jkz7QmXgr1nk');
});

test('the request for a serving certificate', async () => {
  const at = (...addresses: readonly (readonly [string, string])[]) =>
    servingShape(
      'worker-1',
      addresses.map(([type, address]) => ({ type, address })),
    );
  assert.equal(at(), undefined);
  assert.equal(
    at(['Hostname', 'worker-1'], ['InternalDNS', 'worker-1.internal']),
    undefined,
    'an address must be known',
  );
  assert.equal(at(['InternalIP', 'fe80::1%eth0']), undefined);
  const shape = at(
    ['InternalIP', '10.0.0.7'],
    ['ExternalIP', 'fd00::7'],
    ['InternalIP', '10.0.0.7'],
    ['Hostname', 'worker-1'],
    ['ExternalDNS', 'a.example'],
    ['Hostname', '10.0.0.6'],
    ['InternalIP', 'no-address'],
    ['InternalDNS', ''],
  );
  assert.ok(shape !== undefined);
  assert.deepEqual(shape, {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
    subject: { commonName: 'system:node:worker-1', organizations: ['system:nodes'] },
    dnsNames: ['a.example', 'worker-1'],
    ipAddresses: ['10.0.0.6', '10.0.0.7', 'fd00::7'],
  });
  const asked = readCsr(Buffer.from(csrObject(await createKey(), shape).spec.request, 'base64').toString());
  assert.deepEqual(asked.dnsNames, ['a.example', 'worker-1']);
  assert.deepEqual(asked.ipAddresses, ['10.0.0.6', '10.0.0.7', 'fd00:0:0:0:0:0:0:7']);
});
