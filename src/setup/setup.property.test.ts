import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commonPorts } from '../testing/common-ports.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryIptables } from '../testing/memory-iptables.ts';
import { IptablesChains } from './iptables-chains.ts';
import type { MountPropagation } from './ports.ts';
import { sharingOf } from './root-sharing.ts';

const root = '/var/lib/kubelet';
const mount: fc.Arbitrary<MountPropagation> = fc.record({
  mountPoint: fc.constantFrom('/', '/var', '/var/lib', '/var/lib/k', root, `${root}2`, `${root}/pods/u/volumes/v`),
  optionalFields: fc.subarray(['shared:1', 'master:2', 'propagate_from:3']),
});

test('a root directory that was bound and shared stays as it is, whatever is mounted below it later', () => {
  fc.assert(
    fc.property(fc.array(mount), fc.array(mount), (before, later) => {
      if (sharingOf(root, before).kind !== 'bind') return;
      const own = { mountPoint: root, optionalFields: ['shared:9'] };
      const below = later.filter(({ mountPoint }) => mountPoint.startsWith(`${root}/`));
      assert.deepEqual(sharingOf(root, [...before, own, ...below]), { kind: 'shared' });
    }),
  );
});

test('nothing is bound over a mount in the root directory', () => {
  fc.assert(
    fc.property(fc.array(mount), (mounts) => {
      if (sharingOf(root, mounts).kind !== 'bind') return;
      assert.ok(mounts.every(({ mountPoint }) => !mountPoint.startsWith(`${root}/`)));
    }),
  );
});

/** What others do to the tables of IPv4. */
const meddling = fc.constantFrom(
  (tables: MemoryIptables) => tables.flush(),
  (tables: MemoryIptables) => tables.chains.get('iptables mangle')?.delete('KUBE-KUBELET-CANARY'),
  (tables: MemoryIptables) => tables.chains.get('iptables filter')?.delete('KUBE-KUBELET-CANARY'),
  (tables: MemoryIptables) => tables.broken.set('iptables -w 5 -I', 4),
  (tables: MemoryIptables) => tables.broken.set('iptables -w 5 -N', 4),
  (tables: MemoryIptables) => tables.broken.set('iptables -w 5 -S', 4),
  (tables: MemoryIptables) => tables.broken.clear(),
);

test('once others leave the tables alone, each rule stands once, within three minutes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(meddling, { maxLength: 8 }), async (acts) => {
      const [tables, clock] = [new MemoryIptables(), new FakeClock()];
      const chains = new IptablesChains({ ...commonPorts({ clock }), programs: tables });
      await chains.start();
      for (const act of acts) {
        act(tables);
        await clock.advance(30_000);
      }
      tables.broken.clear();
      tables.flush();
      await clock.advance(180_000);
      const filter = tables.chains.get('iptables filter');
      assert.deepEqual([filter?.get('INPUT'), filter?.get('OUTPUT')], [['-j KUBE-FIREWALL'], ['-j KUBE-FIREWALL']]);
      assert.equal(filter?.get('KUBE-FIREWALL')?.length, 1);
      for (const table of ['mangle', 'nat', 'filter']) {
        assert.ok(tables.chains.get(`iptables ${table}`)?.has('KUBE-KUBELET-CANARY'), table);
      }
      await chains.stop();
    }),
    { numRuns: 60 },
  );
});
