import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { commonPorts } from '../testing/common-ports.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryIptables } from '../testing/memory-iptables.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { IptablesChains } from './iptables-chains.ts';
import { canaryVerdict, waitFlags } from './iptables-plan.ts';

const firewall =
  '-m comment --comment block incoming localnet connections --dst 127.0.0.0/8 ! --src 127.0.0.0/8 ' +
  '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';
/** What a Go kubelet called in a network of its own. */
const recorded = JSON.parse(readFileSync('test/golden/iptables/kubelet.json', 'utf8')) as {
  readonly calls: Readonly<Record<'IPv4' | 'IPv6', readonly string[]>>;
};

function aNode() {
  const [clock, log, tables] = [new FakeClock(), new MemoryLog(), new MemoryIptables()];
  const chains = new IptablesChains({ ...commonPorts({ clock, log }), programs: tables });
  return { clock, log, tables, chains };
}

const chainsOf = (tables: MemoryIptables, place: string): readonly string[] => [
  ...(tables.chains.get(place)?.keys() ?? []),
];

describe('the chains of iptables', () => {
  test('are made by the calls of the Go kubelet, in its order', async () => {
    const { tables, chains, log } = aNode();
    await chains.start();
    const ofFamily = (program: string): readonly string[] =>
      tables.calls.filter((call) => call.startsWith(`${program} `));
    assert.deepEqual({ IPv4: ofFamily('iptables'), IPv6: ofFamily('ip6tables') }, recorded.calls);
    assert.deepEqual(log.messages(), ['Initialized iptables rules.', 'Initialized iptables rules.']);
    await chains.stop();
  });

  test('that stand already are left as they are', async () => {
    const { tables, chains } = aNode();
    await chains.start();
    await chains.stop();
    tables.calls.length = 0;
    const again = new IptablesChains({ ...commonPorts({}), programs: tables });
    await again.start();
    assert.deepEqual(
      tables.calls.filter((call) => / -[IA] /.test(call)),
      [],
    );
    await again.stop();
  });

  test('are asked for by one question a minute and family', async () => {
    const { tables, chains, clock } = aNode();
    await chains.start();
    tables.calls.length = 0;
    await clock.advance(61_000);
    assert.deepEqual(tables.calls, [
      'iptables -w 5 -S KUBE-KUBELET-CANARY -t mangle',
      'ip6tables -w 5 -S KUBE-KUBELET-CANARY -t mangle',
    ]);
    await chains.stop();
  });

  test('come back after a flush', async () => {
    const { tables, chains, clock, log } = aNode();
    await chains.start();
    tables.flush();
    await clock.advance(61_000);
    assert.deepEqual(chainsOf(tables, 'iptables filter'), ['INPUT', 'OUTPUT', 'KUBE-FIREWALL', 'KUBE-KUBELET-CANARY']);
    assert.deepEqual(tables.chains.get('iptables filter')?.get('KUBE-FIREWALL'), [firewall]);
    assert.ok(log.messages().includes('Reloading after iptables flush'));
    await chains.stop();
  });

  test('are not touched while another program is flushing table by table, five seconds at most', async () => {
    const { tables, chains, clock, log } = aNode();
    await chains.start();
    tables.chains.get('iptables mangle')?.delete('KUBE-KUBELET-CANARY');
    await clock.advance(62_000);
    assert.ok(!log.messages().includes('Reloading after iptables flush'));
    await clock.advance(4_500);
    assert.ok(log.messages().includes('Inconsistent iptables state detected'));
    assert.ok(chainsOf(tables, 'iptables mangle').includes('KUBE-KUBELET-CANARY'));
    await chains.stop();
  });

  test('of a table that is locked are no sign of a flush', async () => {
    const { tables, chains, clock, log } = aNode();
    await chains.start();
    tables.broken.set('iptables -w 5 -S', 4);
    await clock.advance(181_000);
    assert.deepEqual(log.messages('info').slice(2), []);
    await chains.stop();
  });

  test('that cannot be made are named once, tried again, and made when they can be', async () => {
    const { tables, chains, clock, log } = aNode();
    tables.broken.set('iptables -w 5 -I OUTPUT', 4);
    await chains.start();
    await clock.advance(181_000);
    assert.deepEqual(
      log.entries.map(({ message, fields }) => [message, fields['protocol']]),
      [
        ['Failed to ensure that OUTPUT chain jumps to KUBE-FIREWALL', 'IPv4'],
        ['Failed to initialize iptables rules; some functionality may be missing.', 'IPv4'],
        ['Initialized iptables rules.', 'IPv6'],
      ],
    );
    tables.broken.clear();
    await clock.advance(60_000);
    assert.deepEqual(tables.chains.get('iptables filter')?.get('KUBE-FIREWALL'), [firewall]);
    await chains.stop();
  });

  test('of one family are made without the other', async () => {
    const { tables, chains } = aNode();
    tables.absent.add('ip6tables');
    await chains.start();
    assert.ok(chainsOf(tables, 'iptables mangle').includes('KUBE-IPTABLES-HINT'));
    await chains.stop();
  });

  test('are not made where there is no iptables, or no table for it', async () => {
    const { tables, chains, log } = aNode();
    tables.absent.add('iptables');
    tables.chains.delete('ip6tables nat');
    await chains.start();
    assert.deepEqual(log.messages(), ['No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain']);
    await chains.stop();
  });

  test('keep no pod waiting when the program hangs', async () => {
    const { clock } = aNode();
    const programs = { run: () => new Promise<undefined>(() => {}) };
    const chains = new IptablesChains({ ...commonPorts({ clock }), programs });
    let started = false;
    void chains.start().then(() => (started = true));
    await clock.advance(9_000);
    assert.equal(started, false);
    await clock.advance(2_000);
    assert.equal(started, true);
    await chains.stop();
  });
});

describe('calls', () => {
  for (const [version, expected] of [
    ['iptables v1.8.9 (nf_tables)', ['-w', '5']],
    ['iptables v1.4.22', ['-w', '5']],
    ['iptables v1.4.21', ['-w']],
    ['iptables v1.4.20', ['-w']],
    ['iptables v1.4.19.1', []],
    ['iptables v2.0.0', ['-w', '5']],
    ['', []],
  ] as const) {
    test(`of ${version}: ${expected.join(' ')}`, () => assert.deepEqual(waitFlags(version), expected));
  }

  for (const [code, expected] of [
    [0, 'there'],
    [1, 'gone'],
    [3, 'gone'],
    [4, 'unknown'],
  ] as const) {
    test(`a question for the canary that exits ${code}: ${expected}`, () =>
      assert.equal(canaryVerdict(code), expected));
  }
});
