import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasForeignHostPorts, iptablesRemoval } from './iptables-plan.ts';

const network = 'tubelet-0000aaaa';
const comment = (name: string, prefix = ''): string =>
  `-m comment --comment "${prefix}name: \\"${name}\\" id: \\"c1\\""`;
const save = (chains: readonly string[], rules: readonly string[]): string =>
  ['*nat', ':POSTROUTING ACCEPT [0:0]', ...chains.map((chain) => `:${chain} - [0:0]`), ...rules, 'COMMIT', ''].join(
    '\n',
  );

const masquerade = (name: string, chain: string): string[] => [
  `-A POSTROUTING -s 10.64.0.2/32 ${comment(name)} -j ${chain}`,
  `-A ${chain} -d 10.64.0.0/24 ${comment(name)} -j ACCEPT`,
  `-A ${chain} ! -d 224.0.0.0/4 ${comment(name)} -j MASQUERADE`,
];
const ours = 'CNI-861fa60d8e0cde575a4eee3a';
const theirs = 'CNI-0123456789abcdef01234567';
const hostPortChains = ['CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-MASQ', 'CNI-HOSTPORT-SETMARK'];
const hostPortFrame = [
  '-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
  '-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
  '-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE',
];
const hostPort = (name: string, chain: string): string[] => [
  `-A CNI-HOSTPORT-DNAT -p tcp ${comment(name, 'dnat ')} -m multiport --dports 80 -j ${chain}`,
  `-A ${chain} -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.64.0.2:80`,
];

test('without rules of the network there is no input', () => {
  assert.equal(iptablesRemoval('', network, false), '');
  assert.equal(iptablesRemoval(save([theirs], masquerade('podman', theirs)), network, false), '');
});

test('the rules and chains of the network go, those of others stay', () => {
  const saved = save([ours, theirs], [...masquerade(network, ours), ...masquerade('tubelet-0000bbbb', theirs)]);
  assert.deepEqual(iptablesRemoval(saved, network, false).split('\n'), [
    '*nat',
    `-D POSTROUTING -s 10.64.0.2/32 ${comment(network)} -j ${ours}`,
    `-F ${ours}`,
    `-X ${ours}`,
    'COMMIT',
    '',
  ]);
});

test('another network whose name has ours as a prefix is not ours', () => {
  const saved = save([theirs], masquerade(`${network}0`, theirs));
  assert.equal(iptablesRemoval(saved, network, true), '');
});

test('the last host port takes the shared chains with it', () => {
  const saved = save(
    ['CNI-DN-861fa60d8e0cde575a4ee', ...hostPortChains],
    [...hostPortFrame, ...hostPort(network, 'CNI-DN-861fa60d8e0cde575a4ee')],
  );
  const lines = iptablesRemoval(saved, network, false).split('\n');
  assert.ok(lines.includes('-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT'));
  for (const chain of [...hostPortChains, 'CNI-DN-861fa60d8e0cde575a4ee'])
    assert.ok(lines.includes(`-X ${chain}`), chain);
  // Nothing may lead to a chain when it goes.
  assert.ok(lines.findLastIndex((line) => line.startsWith('-F')) < lines.findIndex((line) => line.startsWith('-X')));
});

test('shared chains stay while others use them, and when they were there before', () => {
  const mine = hostPort(network, 'CNI-DN-861fa60d8e0cde575a4ee');
  const used = save(
    ['CNI-DN-861fa60d8e0cde575a4ee', 'CNI-DN-0123456789abcdef01234', ...hostPortChains],
    [...hostPortFrame, ...mine, ...hostPort('podman', 'CNI-DN-0123456789abcdef01234')],
  );
  const before = save(['CNI-DN-861fa60d8e0cde575a4ee', ...hostPortChains], [...hostPortFrame, ...mine]);
  for (const input of [iptablesRemoval(used, network, false), iptablesRemoval(before, network, true)]) {
    assert.doesNotMatch(input, /-X CNI-HOSTPORT/);
    assert.match(input, /-D CNI-HOSTPORT-DNAT/);
    assert.match(input, /-X CNI-DN-861fa60d8e0cde575a4ee/);
    assert.doesNotMatch(input, /CNI-DN-0123456789abcdef01234/);
  }
});

test('host ports are foreign unless all of them are of instances like ours', () => {
  assert.equal(hasForeignHostPorts(save([], [])), false);
  assert.equal(hasForeignHostPorts(save(hostPortChains, hostPortFrame)), true);
  assert.equal(hasForeignHostPorts(save(hostPortChains, hostPort('tubelet-0000bbbb', 'CNI-DN-1'))), false);
  assert.equal(hasForeignHostPorts(save(hostPortChains, hostPort('podman', 'CNI-DN-1'))), true);
});
