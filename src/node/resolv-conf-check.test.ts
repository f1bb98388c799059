import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HostDns } from '../model/dns.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import { checkResolvConf, ResolvConfCheck } from './resolv-conf-check.ts';

const dns = (searches: readonly string[]): HostDns => ({ servers: ['192.0.2.53'], searches, options: [] });
const domains = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `d${index}.example`);

describe('the search domains of the host', () => {
  const cases: readonly (readonly [readonly string[], string, string | undefined])[] = [
    [domains(29), 'cluster.local', undefined],
    [domains(30), 'cluster.local', "Resolv.conf file '/r' contains search line consisting of more than 29 domains!"],
    [domains(32), '', undefined],
    [domains(33), '', "Resolv.conf file '/r' contains search line consisting of more than 32 domains!"],
    [['a'.repeat(2_048)], '', undefined],
    [
      ['a'.repeat(2_049)],
      '',
      "Resolv.conf file '/r' contains search line which length is more than allowed 2048 chars!",
    ],
  ];
  for (const [searches, clusterDomain, expected] of cases) {
    test(`${searches.length}, ${searches.join(' ').length} characters, cluster domain "${clusterDomain}"`, () =>
      assert.equal(checkResolvConf('/r', dns(searches), clusterDomain), expected));
  }
});

describe('after a start', () => {
  async function eventsOf(path: string, read: () => Promise<HostDns>): Promise<readonly ObjectEvent[]> {
    const events: ObjectEvent[] = [];
    const check = new ResolvConfCheck(
      { path, clusterDomain: '', read },
      { record: (event: ObjectEvent) => void events.push(event) },
    );
    await check.start();
    await new Promise((resolve) => setImmediate(resolve));
    await check.stop();
    return events;
  }

  test('nothing is recorded of a configuration that fits, or that pods do not use', async () => {
    assert.deepEqual(await eventsOf('/r', async () => dns(domains(3))), []);
    assert.deepEqual(await eventsOf('', async () => dns(domains(40))), []);
  });

  test('too many domains are one warning of the node', async () => {
    assert.deepEqual(await eventsOf('/r', async () => dns(domains(33))), [
      {
        type: 'Warning',
        reason: 'CheckLimitsForResolvConf',
        message: "Resolv.conf file '/r' contains search line consisting of more than 32 domains!",
      },
    ]);
  });

  test('a file that cannot be read is a warning too', async () => {
    const [event] = await eventsOf('/r', async () => Promise.reject(new Error('ENOENT: /r')));
    assert.deepEqual([event?.reason, event?.message], ['CheckLimitsForResolvConf', 'ENOENT: /r']);
  });

  test('a file system that hangs holds up neither start nor stop', async () => {
    assert.deepEqual(await eventsOf('/r', () => new Promise(() => {})), []);
  });
});
