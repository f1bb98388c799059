import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { layOutRecord } from '../testing/recorded-tree.ts';
import { HostCgroupUsage } from './cgroup-usage.ts';
import { OpenFileCache } from './open-file-cache.ts';

const wall = Date.UTC(2026, 10, 15);
const clock = new FakeClock({ wall });

function procOf(folder: string, files: Readonly<Record<string, string>> = {}): string {
  const proc = join(folder, 'proc');
  const all = {
    stat: 'cpu  100 20 30 900 5 1 2 4 0 0\ncpu0 100 20 30 900 5 1 2 4 0 0\nctxt 1\nbtime 1794700000\n',
    meminfo: [
      'MemTotal:       25000 kB',
      'MemFree:        10000 kB',
      'Cached:          6000 kB',
      'SwapTotal:       4000 kB',
      'SwapFree:        3000 kB',
      'Active(file):    2000 kB',
      'Inactive(file):  1000 kB',
      'AnonPages:       5000 kB',
      'Mapped:           700 kB',
      'Slab:             300 kB',
      '',
    ].join('\n'),
    vmstat: 'nr_free_pages 1\npgfault 77\npgmajfault 5\noom_kill 2\n',
    diskstats: '  98       0 ubda 1 2 3 4\n  98      16 ubdb 1 2 3 4\n',
    'pressure/cpu': 'some avg10=1.50 avg60=2.00 avg300=3.00 total=40\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(join(proc, name, '..'), { recursive: true });
    writeFileSync(join(proc, name), text);
  }
  return proc;
}

function version1(files?: OpenFileCache) {
  const folder = layOutRecord('test/golden/cgroups/v1.txt');
  const hierarchies = ['cpu', 'cpuacct', 'memory', 'blkio', 'pids'].map((name) => ({
    version: 1 as const,
    root: join(folder, name),
    controllers: [name],
  }));
  const kept = files && { files };
  return HostCgroupUsage.open({ clock, version: 1, pressure: true, hierarchies, proc: procOf(folder), ...kept });
}

function version2(files?: OpenFileCache) {
  const folder = layOutRecord('test/golden/cgroups/v2.txt', 'test/golden/cgroups/v2-pressure.txt');
  const hierarchies = [{ version: 2 as const, root: folder, controllers: [] }];
  const kept = files && { files };
  return HostCgroupUsage.open({ clock, version: 2, pressure: true, hierarchies, proc: procOf(folder), ...kept });
}

describe('files that are kept open', () => {
  for (const [name, open, path, count] of [
    ['version 1, with a quota', version1, '/kubepods/burstable/pod0a1b/c0ffee', 5],
    ['version 2', version2, '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b.slice', 4],
  ] as const) {
    test(`${name}: the same figures; only what every page needs stays open, and nothing after the end`, () => {
      const files = new OpenFileCache({ clock: new FakeClock(), maxOpen: 100 });
      const [plain, keeping] = [open(), open(files)];
      for (const depth of ['core', 'everything', 'core'] as const) {
        assert.ok(plain.read(path, depth));
        assert.deepEqual(keeping.read(path, depth), plain.read(path, depth));
      }
      assert.equal(files.size, count);
      keeping.close();
      assert.equal(files.size, 0);
    });
  }
});

describe('version 1', () => {
  const container = '/kubepods/burstable/pod0a1b/c0ffee';

  test('a container, everything', () => {
    assert.ok((version1().createdAt(container) ?? 0) > 0);
    assert.deepEqual(version1().read(container, 'everything'), {
      path: container,
      at: clock.now(),
      createdAt: undefined,
      cpu: {
        totalNs: 632798996,
        userNs: 490_000_000,
        systemNs: 130_000_000,
        throttling: { periods: 33, throttledPeriods: 31, throttledNs: 2065602969 },
      },
      memory: {
        usage: 38297600,
        maxUsage: 38297600,
        workingSet: 38297600 - 8388608,
        rss: 29052928,
        cache: 8527872,
        mappedFile: 0,
        swap: 0,
        kernel: 397312,
        activeFile: 139264,
        inactiveFile: 8388608,
        failures: 0,
        faults: { own: { minor: 13914, major: 0 }, all: { minor: 13914, major: 0 } },
        oomEvents: 0,
      },
      processes: {
        processes: 1,
        threads: 1,
        threadsMax: 300,
        fileDescriptors: 0,
        sockets: 0,
        openFilesSoftLimit: undefined,
      },
      devices: [],
      pressure: {},
      limits: {
        cpuShares: 204,
        cpuQuotaUs: 20000,
        cpuPeriodUs: 100000,
        memory: 67108864,
        memorySwap: undefined,
        memoryReservation: undefined,
      },
    });
  });

  test('the core is the same where it is read at all', () => {
    const reader = version1();
    const [core, whole] = [reader.read(container, 'core'), reader.read(container, 'everything')];
    assert.equal(core?.cpu?.totalNs, whole?.cpu?.totalNs);
    for (const key of ['usage', 'workingSet', 'rss', 'swap', 'faults'] as const) {
      assert.deepEqual(core?.memory?.[key], whole?.memory?.[key]);
    }
    assert.equal(core?.limits.memory, 67108864);
  });

  test('faults of a pod itself and of its containers are separate', () => {
    const pod = version1().read('/kubepods/burstable/pod0a1b', 'core');
    assert.deepEqual(pod?.memory?.faults, { own: { minor: 0, major: 0 }, all: { minor: 13914, major: 0 } });
    assert.equal(pod?.limits.memory, undefined);
  });

  test('the root has the pressure of the machine and no limits', () => {
    const root = version1().read('/', 'everything');
    assert.equal(version1().createdAt('/'), 1794700000000);
    assert.equal(root?.pressure.cpu?.some.totalUs, 40);
    assert.equal(root?.pressure.memory, undefined);
    assert.equal(root?.limits.memory, undefined);
    assert.ok((root?.cpu?.totalNs ?? 0) > 0);
  });

  test('limits are read again after a while, and at once where more is wanted', async () => {
    const folder = layOutRecord('test/golden/cgroups/v1.txt');
    const root = join(folder, 'memory');
    const hierarchies = [{ version: 1 as const, root, controllers: ['memory'] }];
    const reader = HostCgroupUsage.open({ clock, version: 1, pressure: true, hierarchies, proc: procOf(folder) });
    const limit = (depth: 'core' | 'everything') => reader.read(container, depth)?.limits.memory;
    const set = (text: string) => writeFileSync(join(root, container, 'memory.limit_in_bytes'), text);
    assert.equal(limit('core'), 67108864);
    set('1000');
    assert.equal(limit('core'), 67108864);
    assert.equal(limit('everything'), 1000);
    set('2000');
    assert.equal(limit('core'), 1000);
    await clock.advance(60_000);
    assert.equal(limit('core'), 2000);
  });

  test('processes', () => {
    assert.deepEqual(version1().processes(container), [4242]);
    assert.deepEqual(version1().processes('/kubepods/burstable/pod0a1b'), []);
    assert.deepEqual(version1().processes('/nowhere'), []);
  });
});

describe('version 2', () => {
  const tier = '/kubepods.slice/kubepods-burstable.slice';
  const pod = `${tier}/kubepods-burstable-pod0a1b.slice`;
  const container = `${pod}/cri-containerd-c0ffee.scope`;
  const line = (totalUs: number, avg10 = 0, avg60 = 0, avg300 = 0) => ({ totalUs, avg10, avg60, avg300 });

  test('a container, everything', () => {
    const reader = version2();
    reader.begin();
    assert.deepEqual(reader.read(container, 'everything'), {
      path: container,
      at: clock.now(),
      createdAt: undefined,
      cpu: {
        totalNs: 18_950_000_000,
        userNs: 17_394_659_000,
        systemNs: 1_555_340_000,
        throttling: { periods: 961, throttledPeriods: 926, throttledNs: 66_100_000_000 },
      },
      memory: {
        usage: 21553152,
        maxUsage: 67108864,
        workingSet: 21553152 - 8192,
        rss: 21106688,
        cache: 16384,
        mappedFile: 0,
        swap: 0,
        kernel: 430080,
        activeFile: 8192,
        inactiveFile: 8192,
        // It was the pod that came to its limit.
        failures: 0,
        faults: { own: { minor: 23754, major: 1 }, all: { minor: 23754, major: 1 } },
        oomEvents: 1,
      },
      processes: {
        processes: 1,
        threads: 1,
        // systemd gives one to every scope of its own accord.
        threadsMax: 2388,
        fileDescriptors: 0,
        sockets: 0,
        openFilesSoftLimit: undefined,
      },
      devices: [
        { major: 98, minor: 0, device: '/dev/ubda', readBytes: 57344, writeBytes: 100663296, reads: 2, writes: 3085 },
      ],
      pressure: {
        cpu: { some: line(2500000, 3.5, 1.25, 0.3), full: line(1200000) },
        memory: { some: line(300, 0, 1.25, 0.3), full: line(200) },
        io: { some: line(70000, 0, 1.25, 0.3), full: line(60000) },
      },
      limits: {
        cpuShares: 80,
        cpuQuotaUs: 20000,
        cpuPeriodUs: 100000,
        memory: 67108864,
        memorySwap: 0,
        memoryReservation: undefined,
      },
    });
  });

  test('what goes wrong in a container counts for its pod', () => {
    const { memory } = version2().read(pod, 'everything') ?? {};
    assert.deepEqual([memory?.failures, memory?.oomEvents], [703, 1]);
  });

  test('no limit is undefined', () => {
    const { limits } = version2().read(tier, 'everything') ?? {};
    assert.deepEqual(limits, {
      cpuShares: 80,
      cpuQuotaUs: undefined,
      cpuPeriodUs: 100000,
      memory: undefined,
      memorySwap: undefined,
      memoryReservation: undefined,
    });
  });

  test('the root gets from the machine what the kernel does not count for it', () => {
    const root = version2().read('/', 'core');
    assert.equal(root?.cpu?.totalNs, 105_540_000_000);
    assert.equal(root?.memory?.usage, 15000 * 1024);
    assert.equal(root?.memory?.swap, 1000 * 1024);
    assert.equal(root?.memory?.rss, 118767616);
    assert.equal(root?.pressure.cpu?.some.avg10, 1.5);
  });

  test('memory above which it is throttled is the reservation', () => {
    const folder = layOutRecord('test/golden/cgroups/v2.txt');
    writeFileSync(join(folder, container, 'memory.high'), '60000000\n');
    const hierarchies = [{ version: 2 as const, root: folder, controllers: [] }];
    const reader = HostCgroupUsage.open({ clock, version: 2, pressure: true, hierarchies, proc: procOf(folder) });
    const { limits, pressure } = reader.read(container, 'everything') ?? {};
    assert.equal(limits?.memoryReservation, 60000000);
    // Without the files of pressure, as on the machine of the record.
    assert.deepEqual(pressure, {});
  });

  test('unused devices have no figures', () => {
    const reader = version2();
    reader.begin();
    const { devices = [] } = reader.read('/', 'everything') ?? {};
    assert.deepEqual(
      devices.map(({ device }) => device),
      ['/dev/ubdb', '/dev/ubda'],
    );
  });
});

test('a missing cgroup is undefined; a root without mounted trees is the machine', () => {
  assert.equal(version1().read('/kubepods/burstable/gone', 'everything'), undefined);
  assert.equal(version2().read('/kubepods.slice/gone', 'core'), undefined);
  const folder = layOutRecord('test/golden/cgroups/v2.txt');
  const bare = HostCgroupUsage.open({ clock, version: 1, pressure: false, hierarchies: [], proc: procOf(folder) });
  const root = bare.read('/', 'core');
  assert.deepEqual(root?.cpu, { totalNs: 1_530_000_000, userNs: 1_200_000_000, systemNs: 330_000_000 });
  assert.equal(root?.memory?.workingSet, 14000 * 1024);
  assert.deepEqual(root?.memory?.faults.all, { minor: 77, major: 5 });
  assert.deepEqual(root?.pressure, {});
});

test('processes that crun keeps below the scope of a container are those of the container', () => {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-usage-'));
  const hierarchies = [{ version: 2 as const, root, controllers: [] }];
  const files = {
    'a.scope': '',
    'a.scope/container': '11\n12\n',
    'b.scope': '13\n',
    'b.scope/container': '14\n',
    c: '',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, 'cgroup.procs'), text);
  }
  const usage = HostCgroupUsage.open({ clock, version: 2, pressure: false, hierarchies, proc: procOf(root) });
  const seen = ['/a.scope', '/b.scope', '/c', '/none.scope'].map((path) => usage.processes(path));
  usage.close();
  rmSync(root, { recursive: true });
  assert.deepEqual(seen, [[11, 12], [13], [], []]);
});
