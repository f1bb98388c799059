import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import { kernelHostname, podHostname } from './hostname.ts';

const options = { clusterDomain: 'cluster.local', allowOverride: false };
const named = (name: string, spec: Partial<PodSpec> = {}) => ({
  name,
  namespace: 'ns',
  spec: { containers: [], ...spec },
});

test('host name and domain', () => {
  assert.deepEqual(podHostname(named('web'), options), { hostname: 'web', domain: '' });
  assert.deepEqual(podHostname(named('web', { hostname: 'h', subdomain: 's' }), options), {
    hostname: 'h',
    domain: 's.ns.svc.cluster.local',
  });
  assert.equal(podHostname(named('web', { subdomain: 's' }), options).domain, 's.ns.svc.cluster.local');
});

test('a long pod name is cut to one label, without a loose end', () => {
  assert.equal(podHostname(named('a'.repeat(80)), options).hostname, 'a'.repeat(63));
  assert.equal(podHostname(named(`${'a'.repeat(61)}-.b`), options).hostname, 'a'.repeat(61));
});

test('an override counts only where it is allowed', () => {
  const pod = named('web', { hostnameOverride: 'other.example', subdomain: 's' });
  assert.equal(podHostname(pod, options).hostname, 'web');
  assert.deepEqual(podHostname(pod, { ...options, allowOverride: true }), { hostname: 'other.example', domain: '' });
});

test('the kernel gets the full name only on request and only if it fits', () => {
  const names = { hostname: 'h', domain: 's.ns.svc.cluster.local' };
  assert.deepEqual(kernelHostname(names, undefined), { hostname: 'h' });
  assert.deepEqual(kernelHostname(names, true), { hostname: 'h.s.ns.svc.cluster.local' });
  assert.deepEqual(kernelHostname({ hostname: 'h', domain: '' }, true), { hostname: 'h' });
  const long = `${'h'.repeat(60)}.abcdef`;
  assert.deepEqual(kernelHostname({ hostname: 'h'.repeat(60), domain: 'abcdef' }, true), {
    problem:
      'failed to construct FQDN from pod hostname and cluster domain, FQDN ' +
      `${long} is too long (64 characters is the max, 67 characters requested)`,
  });
});
