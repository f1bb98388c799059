import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dottedSysctl } from './sysctl-names.ts';

test('the first separator decides the form of a name', () => {
  const cases: readonly (readonly [written: string, dotted: string])[] = [
    ['net.ipv4.ip_forward', 'net.ipv4.ip_forward'],
    ['net/ipv4/ip_forward', 'net.ipv4.ip_forward'],
    ['net.ipv4.conf.eth0/100.rp_filter', 'net.ipv4.conf.eth0/100.rp_filter'],
    ['net/ipv4/conf/eth0.100/rp_filter', 'net.ipv4.conf.eth0/100.rp_filter'],
    ['plain', 'plain'],
  ];
  for (const [written, dotted] of cases) assert.equal(dottedSysctl(written), dotted);
});
