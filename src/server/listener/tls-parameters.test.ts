import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecureContext, getCiphers } from 'node:tls';
import { tlsParameters } from './tls-parameters.ts';

const available = new Set(getCiphers());
const newSuites = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';
const parameters = (minVersion: string, ...cipherSuites: readonly string[]) =>
  tlsParameters({ minVersion, cipherSuites }, available);

test('by default TLS 1.2 with what is good in it', () => {
  const { minVersion, ciphers, missing } = parameters('');
  assert.equal(minVersion, 'TLSv1.2');
  assert.deepEqual(missing, []);
  assert.ok(ciphers.startsWith(`${newSuites}:ECDHE-ECDSA-AES128-GCM-SHA256:`));
  assert.ok(!/CBC|SHA(:|$)|DES|RC4/.test(ciphers), ciphers);
});

test('versions by the names of Go', () => {
  assert.equal(parameters('VersionTLS10').minVersion, 'TLSv1');
  assert.equal(parameters('VersionTLS11').minVersion, 'TLSv1.1');
  assert.equal(parameters('VersionTLS12').minVersion, 'TLSv1.2');
  assert.equal(parameters('VersionTLS13').minVersion, 'TLSv1.3');
});

test('suites by the names of IANA, in their order, each once', () => {
  const chosen = parameters(
    '',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_RSA_WITH_AES_256_CBC_SHA',
  );
  assert.deepEqual(chosen, {
    minVersion: 'TLSv1.2',
    ciphers: `${newSuites}:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA`,
    missing: [],
  });
});

test('what the library does not have is left out and logged; if nothing is left, TLS 1.3 alone', () => {
  assert.deepEqual(parameters('', 'TLS_RSA_WITH_RC4_128_SHA', 'TLS_AES_128_GCM_SHA256', 'AES'), {
    minVersion: 'TLSv1.3',
    ciphers: newSuites,
    missing: ['TLS_RSA_WITH_RC4_128_SHA', 'AES'],
  });
});

test('the library takes every choice', () => {
  for (const version of ['', 'VersionTLS10', 'VersionTLS13']) createSecureContext(parameters(version));
  createSecureContext(parameters('', 'TLS_AES_128_GCM_SHA256'));
});
