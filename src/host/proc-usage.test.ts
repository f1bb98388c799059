import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { passingFolder } from '../testing/recorded-tree.ts';
import { readPseudoFile } from './proc-usage-file.ts';
import { HostProcessFiles } from './proc-usage-files.ts';
import {
  blockDevicesIn,
  cpuOfStat,
  diskActivitiesIn,
  interfacesIn,
  openFilesLimit,
  threadsOfLoadavg,
} from './proc-usage-text.ts';
import { HostProcUsage } from './proc-usage.ts';

const netDev = [
  'Inter-|   Receive                                                |  Transmit',
  ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
  '    lo: 4655917919 3799284    0    0    0     0          0         0 4655917919 3799284    0    0    0     0       0          0',
  '  eth0: 1635007447   48354    1    2    3     4          5         6  3703810   31361    7    8    9    10      11         12',
  'vethab12:      1       1    0    0    0     0          0         0        1       1    0    0    0     0       0          0',
  'cni0:1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0',
  '',
].join('\n');

test('interfaces, without those that only repeat the traffic of others', () => {
  assert.deepEqual(interfacesIn(netDev), [
    {
      name: 'eth0',
      rxBytes: 1635007447,
      rxPackets: 48354,
      rxErrors: 1,
      rxDropped: 2,
      txBytes: 3703810,
      txPackets: 31361,
      txErrors: 7,
      txDropped: 8,
    },
    {
      name: 'cni0',
      rxBytes: 1,
      rxPackets: 2,
      rxErrors: 3,
      rxDropped: 4,
      txBytes: 5,
      txPackets: 6,
      txErrors: 7,
      txDropped: 8,
    },
  ]);
  assert.deepEqual(interfacesIn(''), []);
});

test('texts of /proc of another form give no values', () => {
  assert.equal(cpuOfStat(''), undefined);
  assert.equal(cpuOfStat('cpu 1 2\n'), undefined);
  assert.equal(threadsOfLoadavg('2.57 3.63 4.79 3/175 10692\n'), 175);
  assert.equal(threadsOfLoadavg(''), undefined);
  assert.deepEqual(blockDevicesIn(''), new Map());
  assert.equal(openFilesLimit('Max open files            1024                 524288               files\n'), 1024);
  assert.equal(openFilesLimit('Max open files            unlimited            unlimited            files\n'), -1);
  assert.equal(openFilesLimit(''), undefined);
});

describe('this machine', () => {
  const proc = new HostProcUsage();

  test('reports its own process', () => {
    const { total, free } = proc.memory();
    assert.ok(total > free && free > 0);
    const { max = 0, current = 0 } = proc.threads();
    assert.ok(max > current && current > 0);
    assert.ok((proc.bootTime() ?? 0) > Date.UTC(2020, 0, 1));
    assert.ok((proc.cpu()?.totalNs ?? 0) > 0);
    assert.ok((proc.memoryUsage()?.workingSet ?? 0) > 0);
    assert.ok(Array.isArray(proc.interfaces('self')));
  });

  test('gives no values for a missing process', () => {
    assert.deepEqual(proc.interfaces(2 ** 22 + 1), []);
    assert.equal(readPseudoFile('/proc/nothing/at/all'), undefined);
  });

  test('a file of more than a page is read to its end', () => {
    const folder = passingFolder('pseudo');
    const text = 'x'.repeat(100_000);
    writeFileSync(join(folder, 'long'), text);
    assert.equal(readPseudoFile(join(folder, 'long')), text);
  });
});

describe('open files', () => {
  let server: Server;
  before(async () => {
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => server.close());

  test('of this process', () => {
    const files = new HostProcessFiles({ clock: new FakeClock() });
    const { fileDescriptors, sockets = 0, openFilesSoftLimit = 0 } = files.of('/own', [process.pid]);
    assert.ok(sockets >= 1 && fileDescriptors > sockets);
    assert.ok(openFilesSoftLimit > 0);
  });

  /** Processes with so many sockets each. */
  function madeUp(processes: number, sockets: number): string {
    const proc = passingFolder('proc');
    for (let pid = 1; pid <= processes; pid++) {
      mkdirSync(join(proc, String(pid), 'fd'), { recursive: true });
      for (let fd = 0; fd < sockets; fd++) symlinkSync(`socket:[${fd}]`, join(proc, String(pid), 'fd', String(fd)));
    }
    return proc;
  }

  test('a page reads so many links and no more; the rest has its turn on the next one', async () => {
    const clock = new FakeClock();
    const files = new HostProcessFiles({ clock, proc: madeUp(3, 600) });
    const page = () => {
      files.begin();
      return [1, 2, 3].map((pid) => files.of(`/c${pid}`, [pid]).sockets);
    };
    assert.deepEqual(page(), [600, 600, undefined]);
    assert.deepEqual(page(), [600, 600, 600]);
    await clock.advance(61_000);
    assert.deepEqual(page(), [600, 600, 600]);
  });
});

test('activity of disks', () => {
  const vda = ' 254       0 vda 148051 10359 4818794 70485 43458 172781 23715696 63247 3 19604 137243 24533 63 7881136';
  const disks = diskActivitiesIn(`${vda}\n   8       0 sda 1 2 3 4\n\n`);
  assert.deepEqual(
    [...disks],
    [
      [
        '/dev/vda',
        {
          reads: 148_051,
          readsMerged: 10_359,
          sectorsRead: 4_818_794,
          readMs: 70_485,
          writes: 43_458,
          writesMerged: 172_781,
          sectorsWritten: 23_715_696,
          writeMs: 63_247,
          inProgress: 3,
          busyMs: 19_604,
          weightedMs: 137_243,
        },
      ],
    ],
  );
});
