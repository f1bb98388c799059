import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CgroupUsage, MachineFacts, OwnedUsage, UsageSnapshot } from '../../model/usage.ts';
import { parseMetrics, type ParsedMetrics, type ParsedSample } from '../../testing/parse-metrics.ts';
import { diskActivity, someMachine, usageSnapshot } from '../../testing/usage-snapshots.ts';
import { cadvisorPage, type ScrapeOptions } from './index.ts';

const rich = usageSnapshot({ version: 2, pods: 1, containersPerPod: 1 });
const [root] = rich.cgroups;
const sandbox = rich.cgroups.find(({ owner }) => owner?.container === 'POD');
const pod = rich.cgroups.find(({ owner }) => owner?.container === '');
const container = rich.cgroups.find(({ owner }) => owner?.container === 'container-0');
assert.ok(root && sandbox && pod && container);

const text = (
  snapshot?: UsageSnapshot,
  facts: MachineFacts | undefined = someMachine,
  options?: ScrapeOptions,
): string => [...cadvisorPage(snapshot, facts, options)].join('');
const read = (...cgroups: readonly OwnedUsage[]): ParsedMetrics => parseMetrics(text({ ...rich, cgroups }));
const samples = (page: ParsedMetrics, name: string): readonly ParsedSample[] => page.get(name)?.samples ?? [];
const values = (page: ParsedMetrics, name: string): readonly number[] => samples(page, name).map(({ value }) => value);
const changed = (owned: OwnedUsage, change: Partial<CgroupUsage>): OwnedUsage => ({
  ...owned,
  usage: { ...owned.usage, ...change },
});

describe('cadvisorPage', () => {
  it('comes in families sorted by name, each in one chunk', () => {
    const chunks = [...cadvisorPage(rich, someMachine)];
    for (const chunk of chunks) assert.equal(parseMetrics(chunk).size, 1);
    const names = chunks.flatMap((chunk) => [...parseMetrics(chunk).keys()]);
    assert.deepEqual(names, names.toSorted());
  });

  it('labels a container, its sandbox, its pod and what belongs to no pod', () => {
    const page = read(root, pod, sandbox, container);
    const labels = samples(page, 'container_memory_rss').map((sample) => Object.fromEntries(sample.labels));
    const { namespace, pod: name } = container.owner!;
    const inPod = { namespace, pod: name };
    assert.deepEqual(labels, [
      { container: '', id: '/', image: '', name: '', namespace: '', pod: '' },
      { container: '', id: pod.usage.path, image: '', name: '', ...inPod },
      { container: '', id: sandbox.usage.path, image: sandbox.owner?.image, name: sandbox.owner?.id, ...inPod },
      {
        container: 'container-0',
        id: container.usage.path,
        image: container.owner?.image,
        name: container.owner?.id,
        ...inPod,
      },
    ]);
  });

  it('writes labels by the alphabet, in every family', () => {
    for (const line of text(rich).split('\n')) {
      const names = [...line.matchAll(/[{,]([a-zA-Z_]+)="/g)].map((match) => match[1] ?? '');
      assert.deepEqual(names, names.toSorted());
    }
  });

  it('turns units into those of the names', () => {
    const page = read(
      changed(container, {
        at: 1_700_000_000_999,
        createdAt: 1_600_000_000_999,
        cpu: { totalNs: 1_500_000_000, userNs: 1_000_000_000, systemNs: 500_000_000 },
        pressure: {
          cpu: {
            some: { totalUs: 2_500_000, avg10: 1, avg60: 1, avg300: 1 },
            full: { totalUs: 500_000, avg10: 1, avg60: 1, avg300: 1 },
          },
        },
      }),
    );
    assert.deepEqual(values(page, 'container_cpu_usage_seconds_total'), [1.5]);
    assert.equal(samples(page, 'container_cpu_usage_seconds_total')[0]?.labels.get('cpu'), 'total');
    assert.deepEqual(values(page, 'container_cpu_user_seconds_total'), [1]);
    assert.deepEqual(values(page, 'container_cpu_system_seconds_total'), [0.5]);
    assert.deepEqual(values(page, 'container_pressure_cpu_waiting_seconds_total'), [2.5]);
    assert.deepEqual(values(page, 'container_pressure_cpu_stalled_seconds_total'), [0.5]);
    assert.deepEqual(values(page, 'container_pressure_io_waiting_seconds_total'), [0]);
    assert.deepEqual(values(page, 'container_start_time_seconds'), [1_600_000_000]);
    assert.deepEqual(values(page, 'container_last_seen'), [1_700_000_000]);
  });

  it('stamps values with the moment they were read at, and nothing that has no moment', () => {
    const page = parseMetrics(text(rich));
    const unstamped = [...page.values()]
      .filter(({ samples: all }) => all.every(({ timestamp }) => timestamp === undefined))
      .map(({ name }) => name);
    assert.deepEqual(unstamped, [
      'cadvisor_version_info',
      'container_scrape_error',
      'container_spec_cpu_period',
      'container_spec_cpu_quota',
      'container_spec_cpu_shares',
      'container_spec_memory_limit_bytes',
      'container_spec_memory_reservation_limit_bytes',
      'container_spec_memory_swap_limit_bytes',
      'container_start_time_seconds',
      'machine_scrape_error',
    ]);
    for (const { name, samples: all } of page.values())
      if (!unstamped.includes(name)) for (const { timestamp } of all) assert.ok(timestamp! > 1_699_999_999_999, name);
    const rss = samples(read(container), 'container_memory_rss');
    assert.equal(rss[0]?.timestamp, container.usage.at);
  });

  it('has faults, devices, networks and file systems one by one', () => {
    const page = read(root, sandbox);
    const faults = samples(page, 'container_memory_failures_total').filter(({ labels }) => labels.get('id') === '/');
    const { own, all } = root.usage.memory!.faults;
    assert.deepEqual(
      faults.map(({ labels, value }) => [labels.get('scope'), labels.get('failure_type'), value]),
      [
        ['container', 'pgfault', own.minor],
        ['container', 'pgmajfault', own.major],
        ['hierarchy', 'pgfault', all.minor],
        ['hierarchy', 'pgmajfault', all.major],
      ],
    );
    const moved = samples(page, 'container_blkio_device_usage_total').slice(0, 2);
    assert.deepEqual(
      moved.map(({ labels }) => ['device', 'major', 'minor', 'operation'].map((name) => labels.get(name))),
      [
        ['/dev/sda', '8', '0', 'Read'],
        ['/dev/sda', '8', '0', 'Write'],
      ],
    );
    assert.deepEqual(values(page, 'container_network_receive_bytes_total'), [
      root.network[0]?.rxBytes,
      sandbox.network[0]?.rxBytes,
    ]);
    assert.deepEqual(values(page, 'container_fs_usage_bytes'), [root.filesystems[0]?.used]);
  });

  it('has the activity of the machine’s disks, each disk once', () => {
    const operations = (page: ParsedMetrics): readonly unknown[] =>
      samples(page, 'container_fs_reads_total').map(({ labels, value }) => [labels.get('device'), value]);
    const page = read(root, container);
    const [device] = root.usage.devices;
    assert.deepEqual(operations(page), [
      ['/dev/sda', device?.reads],
      ['/dev/sda1', diskActivity.reads],
      ['/dev/sda', container.usage.devices[0]?.reads],
    ]);
    assert.deepEqual(values(page, 'container_fs_io_current'), [diskActivity.inProgress]);
    assert.deepEqual(values(page, 'container_fs_io_time_seconds_total'), [diskActivity.busyMs / 1_000]);
    assert.deepEqual(values(page, 'container_fs_io_time_weighted_seconds_total'), [diskActivity.weightedMs / 1_000]);
    assert.deepEqual(values(page, 'container_fs_read_seconds_total'), [diskActivity.readMs / 1_000]);
    assert.deepEqual(values(page, 'container_fs_sector_writes_total'), [diskActivity.sectorsWritten]);
    const whole = changed(root, { devices: [{ ...device!, device: '/dev/sda1' }] });
    assert.deepEqual(operations(read(whole)), [['/dev/sda1', device?.reads]]);
    assert.deepEqual(values(read(whole), 'container_fs_writes_merged_total'), [diskActivity.writesMerged]);
  });

  it('has loads and states of tasks as zero', () => {
    const states = samples(read(container), 'container_tasks_state');
    assert.deepEqual(
      states.map(({ labels, value }) => [labels.get('state'), value]),
      [
        ['sleeping', 0],
        ['running', 0],
        ['stopped', 0],
        ['uninterruptible', 0],
        ['iowaiting', 0],
      ],
    );
  });

  it('has a quota and its throttling only for cgroups with one', () => {
    const names = ['container_spec_cpu_quota', 'container_cpu_cfs_periods_total'];
    for (const cpuQuotaUs of [undefined, 0, -1]) {
      const page = read(changed(container, { limits: { ...container.usage.limits, cpuQuotaUs } }));
      for (const name of names) assert.deepEqual(values(page, name), [], `${name} ${cpuQuotaUs}`);
    }
    const page = read(changed(container, { limits: { ...container.usage.limits, cpuQuotaUs: 20_000 } }));
    assert.deepEqual(values(page, 'container_spec_cpu_quota'), [20_000]);
    assert.deepEqual(values(page, 'container_cpu_cfs_periods_total'), [container.usage.cpu?.throttling?.periods]);
  });

  it('writes zero for memory without limit, and the size of the machine for the root', () => {
    const page = read(root, changed(container, { limits: { ...container.usage.limits, memory: undefined } }));
    assert.deepEqual(values(page, 'container_spec_memory_limit_bytes'), [someMachine.memoryBytes, 0]);
    assert.deepEqual(samples(page, 'container_spec_memory_swap_limit_bytes')[0]?.value, someMachine.swapBytes);
  });

  it('leaves out what the kernel does not count', () => {
    const bare: CgroupUsage = {
      path: '/kubepods',
      at: rich.at,
      createdAt: undefined,
      cpu: undefined,
      memory: undefined,
      processes: undefined,
      devices: [],
      pressure: {},
      limits: {
        cpuShares: undefined,
        cpuQuotaUs: undefined,
        cpuPeriodUs: undefined,
        memory: undefined,
        memorySwap: undefined,
        memoryReservation: undefined,
      },
    };
    const page = read({ usage: bare, owner: undefined, network: [], filesystems: [] });
    const names = [...page.keys()].filter((name) => name.startsWith('container_'));
    const zeros = names.filter((name) => /^container_(cpu_load|pressure|tasks)_/.test(name));
    assert.deepEqual(
      names.filter((name) => !zeros.includes(name)),
      ['container_last_seen', 'container_scrape_error'],
    );
    assert.equal(zeros.length, 2 + 6 + 1);
    for (const name of zeros) assert.deepEqual(new Set(values(page, name)), new Set([0]), name);
  });

  it('never writes a series twice, whatever is listed twice', () => {
    const [device] = container.usage.devices;
    const nameless = { ...device!, device: '' };
    const page = read(container, container, {
      ...changed(root, { devices: [nameless, { ...nameless, minor: 1 }] }),
      network: [...root.network, ...root.network],
    });
    const reads = samples(page, 'container_fs_reads_total').filter(({ labels }) => labels.get('id') === '/');
    assert.deepEqual(
      reads.map(({ labels }) => labels.get('device')),
      ['8:0', '8:1', '/dev/sda1'],
    );
  });

  it('says what could not be read, and has the rest', () => {
    const all = parseMetrics(text(rich));
    assert.deepEqual(values(all, 'container_scrape_error'), [0]);
    assert.deepEqual(values(all, 'machine_scrape_error'), [0]);
    const incomplete = parseMetrics(text(rich, someMachine, { incomplete: true }));
    assert.deepEqual(values(incomplete, 'container_scrape_error'), [1]);
    assert.equal(incomplete.size, all.size);
    const machineOnly = parseMetrics(text(undefined));
    assert.deepEqual(values(machineOnly, 'container_scrape_error'), [1]);
    assert.deepEqual(values(machineOnly, 'machine_cpu_cores'), [someMachine.cores]);
    const nothing = parseMetrics([...cadvisorPage(undefined, undefined)].join(''));
    assert.deepEqual([...nothing.keys()], ['container_scrape_error', 'machine_scrape_error']);
    assert.deepEqual(values(nothing, 'machine_scrape_error'), [1]);
  });
});
