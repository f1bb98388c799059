import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import type { AdmissionNode } from '../../model/admission-node.ts';
import { anAdmissionNode } from '../../testing/admission-node.ts';
import { aPod } from '../../testing/pods.ts';
import { sysctls } from './rules/sysctls.ts';
import { admitted } from './pod-admit-result.ts';

function ask(name: string, node: Partial<AdmissionNode> = {}, spec: Partial<PodSpec> = {}): string | undefined {
  const pod = aPod({ spec: { ...spec, securityContext: { sysctls: [{ name, value: '1' }] } } });
  const result = sysctls({ pod, active: [], node: anAdmissionNode(node) });
  if (result.admit !== false) return undefined;
  assert.equal(result.reason, 'SysctlForbidden');
  return result.message;
}

const kernel = (kernelVersion: string): Partial<AdmissionNode> => ({ kernelVersion });
const unsafe = (...allowedUnsafeSysctls: readonly string[]): Partial<AdmissionNode> => ({ allowedUnsafeSysctls });
const not = (name: string): string => `forbidden sysctl: "${name}" not allowlisted`;
const host = (name: string, namespace: string): string =>
  `forbidden sysctl: "${name}" not allowed with host ${namespace} enabled`;

const cases: readonly [name: string, node: Partial<AdmissionNode>, spec: Partial<PodSpec>, expected?: string][] = [
  ['kernel.shm_rmid_forced', kernel('2.6.32'), {}],
  ['net.ipv4.ip_local_port_range', kernel('2.6.32'), {}],
  ['net.ipv4.tcp_syncookies', {}, {}],
  ['net.ipv4.ping_group_range', {}, {}],
  ['net.ipv4.ip_unprivileged_port_start', kernel('no version'), {}],
  ['net.ipv4.ip_local_reserved_ports', kernel('3.16.0'), {}],
  ['net.ipv4.ip_local_reserved_ports', kernel('3.9.0'), {}, not('net.ipv4.ip_local_reserved_ports')],
  ['net.ipv4.tcp_keepalive_time', kernel('4.5.0-rc1'), {}],
  ['net.ipv4.tcp_keepalive_time', kernel('4.4.302'), {}, not('net.ipv4.tcp_keepalive_time')],
  ['net.ipv4.tcp_fin_timeout', kernel('4.5.9'), {}, not('net.ipv4.tcp_fin_timeout')],
  ['net.ipv4.tcp_fin_timeout', kernel('4.6'), {}],
  ['net.ipv4.tcp_keepalive_intvl', kernel('5.0'), {}],
  ['net.ipv4.tcp_keepalive_probes', kernel('10.0.1'), {}],
  ['net.ipv4.tcp_rmem', kernel('4.14.1'), {}, not('net.ipv4.tcp_rmem')],
  ['net.ipv4.tcp_rmem', kernel('4.15.0'), {}],
  ['net.ipv4.tcp_wmem', kernel('no version'), {}, not('net.ipv4.tcp_wmem')],
  ['kernel.msgmax', {}, {}, not('kernel.msgmax')],
  ['kernel.msgmax', unsafe('kernel.msg*'), {}],
  ['kernel/msgmax', unsafe('kernel.msgmax'), {}],
  ['kernel.msgmax', unsafe('kernel/msg*'), {}],
  ['kernel.sem', unsafe('kernel.sem'), {}],
  ['net.core.somaxconn', unsafe('kernel.msg*', 'net.ipv4.*'), {}, not('net.core.somaxconn')],
  ['net/ipv4/conf/eth0.1/rp_filter', unsafe('net.ipv4.conf.eth0/1.rp_filter'), {}],
  ['net/ipv4/conf/eth0.1/rp_filter', {}, {}, not('net.ipv4.conf.eth0/1.rp_filter')],
  // Settings of the whole node cannot be allowed, by whatever pattern.
  ['vm.swappiness', unsafe('vm.swappiness'), {}, not('vm.swappiness')],
  ['kernel.panic', unsafe('kernel.*'), {}, not('kernel.panic')],
  ['net.ipv4.tcp_syncookies', {}, { hostNetwork: true }, host('net.ipv4.tcp_syncookies', 'net')],
  ['net.ipv4.tcp_syncookies', {}, { hostIPC: true }],
  ['kernel.shm_rmid_forced', {}, { hostIPC: true }, host('kernel.shm_rmid_forced', 'ipc')],
  ['kernel.shm_rmid_forced', {}, { hostNetwork: true }],
  ['net/core/somaxconn', unsafe('net.*'), { hostNetwork: true }, host('net.core.somaxconn', 'net')],
  ['fs.mqueue.msg_max', unsafe('fs.mqueue.*'), { hostIPC: true }, host('fs.mqueue.msg_max', 'ipc')],
];

for (const [name, node, spec, expected] of cases) {
  test(`${name} ${JSON.stringify({ ...node, ...spec })}`, () => assert.equal(ask(name, node, spec), expected));
}

test('the first that is forbidden is named; a pod without sysctls is admitted', () => {
  const names = ['net.ipv4.tcp_syncookies', 'vm.b', 'vm.a'].map((name) => ({ name, value: '1' }));
  const pod = aPod({ spec: { securityContext: { sysctls: names } } });
  const result = sysctls({ pod, active: [], node: anAdmissionNode() });
  assert.equal(result.admit === false && result.message, not('vm.b'));
  assert.equal(sysctls({ pod: aPod(), active: [], node: anAdmissionNode() }), admitted);
});
