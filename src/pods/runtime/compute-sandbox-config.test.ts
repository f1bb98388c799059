import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Protocol, SupplementalGroupsPolicy } from '../../gen/cri/api.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { desiredPod } from '../../model/desired-pod.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';
import { goldenHostDns, goldenSettings } from '../../testing/golden.ts';
import { computeLeftOut, computeSandboxConfig } from './compute-sandbox-config.ts';

function config(spec: Partial<PodSpec>, settings: Partial<RuntimeSettings> = {}) {
  const pod = desiredPod('api', {
    metadata: { uid: 'u-1', name: 'p', namespace: 'n', labels: { app: 'x' } },
    spec: { containers: [{ name: 'c' }], securityContext: {}, ...spec },
  });
  return computeSandboxConfig({
    pod,
    attempt: 2,
    settings: { ...goldenSettings, ...settings },
    hostDns: goldenHostDns,
    extraGroups: [900],
  });
}

test('the parent of the containers depends on driver and configuration', () => {
  assert.equal(config({}).linux?.cgroupParent, '/kubepods/besteffort/podu-1');
  assert.equal(
    config({}, { cgroupDriver: 'systemd' }).linux?.cgroupParent,
    '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu_1.slice',
  );
  assert.equal(config({}, { cgroupsPerQos: false }).linux?.cgroupParent, '');
});

test('ports of regular containers only', () => {
  const spec: Partial<PodSpec> = {
    initContainers: [{ name: 'i', ports: [{ containerPort: 1 }] }],
    containers: [
      { name: 'a', ports: [{ containerPort: 53, protocol: 'UDP', hostPort: 5353, hostIP: '127.0.0.1' }] },
      { name: 'b', ports: [{ containerPort: 80 }] },
    ],
  };
  assert.deepEqual(config(spec).portMappings, [
    { protocol: Protocol.UDP, containerPort: 53, hostPort: 5353, hostIp: '127.0.0.1' },
    { protocol: Protocol.TCP, containerPort: 80, hostPort: 0, hostIp: '' },
  ]);
});

test('a port that a container names twice is mapped once', () => {
  const twice = { containerPort: 80, protocol: 'TCP' };
  const ports = (...list: NonNullable<PodSpec['containers'][number]['ports']>) =>
    config({ containers: [{ name: 'a', ports: list }] }).portMappings.map((port) => port.containerPort);
  assert.deepEqual(ports(twice, twice, { ...twice, protocol: 'UDP' }), [80, 80]);
  assert.deepEqual(ports({ ...twice, name: 'x' }, { containerPort: 81, name: 'x' }), [80]);
  assert.deepEqual(ports(twice, { ...twice, hostIP: '127.0.0.1' }, { ...twice, hostPort: 8080 }), [80, 80, 80]);
});

test('sysctls are named with dots', () => {
  const sysctls = [
    { name: 'net.ipv4.tcp_syncookies', value: '1' },
    { name: 'net/ipv4/conf/eth0.1/forwarding', value: '0' },
  ];
  assert.deepEqual(config({ securityContext: { sysctls } }).linux?.sysctls, {
    'net.ipv4.tcp_syncookies': '1',
    'net.ipv4.conf.eth0/1.forwarding': '0',
  });
});

test('groups and their policy', () => {
  const context = config({
    securityContext: { fsGroup: 1, supplementalGroups: [2, 3], supplementalGroupsPolicy: 'Strict' },
  }).linux?.securityContext;
  assert.deepEqual(context?.supplementalGroups, [1n, 900n, 2n, 3n]);
  assert.equal(context?.supplementalGroupsPolicy, SupplementalGroupsPolicy.Strict);
  assert.throws(() => config({ securityContext: { supplementalGroupsPolicy: 'Loose' } }), {
    kind: 'invalid',
    message: 'unsupported supplementalGroupsPolicy: Loose',
  });
});

test('one privileged container of any kind makes the sandbox privileged', () => {
  const securityContext = { privileged: true };
  assert.equal(config({}).linux?.securityContext?.privileged, false);
  assert.equal(config({ initContainers: [{ name: 'i', securityContext }] }).linux?.securityContext?.privileged, true);
  assert.equal(
    config({ ephemeralContainers: [{ name: 'e', securityContext }] }).linux?.securityContext?.privileged,
    true,
  );
});

test('host name: none of its own on the host network, the full one on request', () => {
  assert.equal(config({}).hostname, 'p');
  assert.equal(config({ hostNetwork: true }).hostname, '');
  assert.equal(config({ subdomain: 's', setHostnameAsFQDN: true }).hostname, 'p.s.n.svc.cluster.local');
  assert.throws(() => config({ hostname: 'h'.repeat(60), subdomain: 's', setHostnameAsFQDN: true }), {
    kind: 'invalid',
    message: /is too long \(64 characters is the max, 82 characters requested\)/,
  });
});

test('a pod with a user namespace never gets the users of the host', () => {
  assert.throws(() => config({ hostUsers: false }), {
    kind: 'unsupported',
    message: "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
  });
  assert.doesNotThrow(() => config({ hostUsers: true }));
});

test('identity and directory of logs', () => {
  const made = config({});
  assert.deepEqual(made.metadata, { name: 'p', uid: 'u-1', namespace: 'n', attempt: 2 });
  assert.equal(made.logDirectory, '/var/log/pods/n_p_u-1');
  assert.equal(made.labels['app'], 'x');
});

test('labels and annotations that are too long for a list of all pods are not given to the runtime', () => {
  const annotations = { long: 'x'.repeat(60 * 1024), short: 'y', longer: 'z'.repeat(100 * 1024) };
  const labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`l${index}`, 'v'.repeat(60)]));
  const pod = desiredPod('api', {
    metadata: { uid: 'u-1', name: 'p', namespace: 'n', labels, annotations },
    spec: { containers: [{ name: 'c' }] },
  });
  const made = computeSandboxConfig({ pod, attempt: 0, settings: goldenSettings, hostDns: goldenHostDns });
  assert.deepEqual(Object.keys(made.annotations), ['long', 'short']);
  assert.ok(JSON.stringify(made.labels).length < 20 * 1024);
  assert.equal(made.labels['io.kubernetes.pod.uid'], 'u-1');
  assert.ok(computeLeftOut(pod).includes('longer'));
});
