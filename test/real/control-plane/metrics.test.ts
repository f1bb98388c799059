import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import type { Node, Pod } from '../../../src/gen/kubernetes/types.ts';
import { checkMetrics, withoutPrometheus } from '../../support/promtool.ts';
import { clock, until } from '../../support/real-wait.ts';
import { ClusterView, type Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { goldenNode } from './golden-shape.ts';
import { joinNode, type JoinedNode } from './join-node.ts';
import { metricsPages, openAgentPages, type AgentPages } from './metrics/agent-pages.ts';
import { compareMetrics, difference, goldenText, keysOf, podShape } from './metrics/compare.ts';
import { startMetricsServer } from './metrics/metrics-server.ts';
import { heldMebibytes, startMeteredPods, startRecordedPod, writtenMebibytes } from './metrics/pods.ts';
import { startPrometheus, type Prometheus } from './metrics/prometheus.ts';
import { pageRecords } from './metrics/records.ts';
import { topNode, topPods } from './metrics/top.ts';

/** What the recorded node was told, besides what a node of ours needs. */
const recordedSettings = {
  maxPods: 250,
  imageGCHighThresholdPercent: 99,
  imageGCLowThresholdPercent: 98,
  evictionHard: { 'imagefs.available': '1%', 'memory.available': '100Mi', 'nodefs.available': '1%' },
};

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
let self: Node;
let here: Namespace;
let pages: AgentPages;
let prometheus: Prometheus;
before(async () => {
  plane = await startControlPlane();
  node = await joinNode(plane, { config: recordedSettings });
  view = new ClusterView(plane);
  self = await node.ready();
  pages = await openAgentPages(plane, self);
  here = await view.namespace('metered');
  await Promise.all([startMeteredPods(here, node.image, node.name), startRecordedPod(plane, here, node.image)]);
  // Now, because what they tell takes a while.
  await startMetricsServer(plane, node.address);
  if (withoutPrometheus === false) prometheus = await startPrometheus(plane, pages);
});
after(async () => {
  view?.close();
  await node?.destroy();
  await plane?.stop();
});

async function page(path: string): Promise<string> {
  const { status, body } = await pages.get(path);
  assert.equal(status, 200, `${path}: ${body}`);
  return body;
}

const jsonPage = async <T>(path: string): Promise<T> => JSON.parse(await page(path)) as T;

describe('pages beside those of figures, compared with a Go kubelet', () => {
  test('/healthz, on both ports', async () => {
    const open = await fetch(`http://127.0.0.1:${node.healthzPort}/healthz?verbose`);
    assert.equal(await open.text(), goldenText('healthz.txt'));
    assert.equal(await page('/healthz?verbose'), goldenText('healthz-10250.txt'));
  });

  test('/configz has the same fields, with the same values where the nodes are told the same', async () => {
    type Configz = { readonly kubeletconfig: Readonly<Record<string, unknown>> };
    const { kubeletconfig: ours } = await jsonPage<Configz>('/configz');
    const { kubeletconfig: theirs } = goldenNode<Configz>('configz.json');
    assert.deepEqual(difference(keysOf(ours), keysOf(theirs)), { missing: ['readOnlyPort'], added: ['cgroupRoot'] });
    // Paths, addresses and what keeps a Go kubelet from changing the machine.
    const own = new Set(
      `staticPodPath podLogsDir volumePluginDir tlsCertFile tlsPrivateKeyFile authentication containerRuntimeEndpoint
      address port healthzPort clusterDNS makeIPTablesUtilChains readOnlyPort cgroupRoot`.split(/\s+/),
    );
    const common = (of: object): object => Object.fromEntries(Object.entries(of).filter(([key]) => !own.has(key)));
    assert.deepEqual(common(ours), common(theirs));
  });

  test('/pods shows a pod as it did', async () => {
    type Pods = { readonly items: readonly Pod[] };
    const { items, ...list } = await jsonPage<Pods>('/pods');
    const { items: recorded, ...recordedList } = goldenNode<Pods>('pods.json');
    assert.deepEqual(list, recordedList);
    const pod = items.find(({ metadata }) => metadata?.name === 'p1');
    assert.ok(pod);
    assert.deepEqual(podShape(pod), podShape(recorded[0] ?? {}));
  });

  test('/stats/summary has all that was there, and what a newer runtime adds', async () => {
    const ours = await jsonPage<{ readonly pods: readonly SummaryPod[] }>('/stats/summary');
    const { missing, added } = difference(keysOf(ours), keysOf(goldenNode('stats-summary.json')));
    // Upstream, too, tells the node's network only by this name.
    const hasNetwork = networkInterfaces()['eth0'] !== undefined;
    assert.deepEqual(
      missing.filter((key) => hasNetwork || !/^node\.network\.(name|[rt]x)/.test(key)),
      [],
    );
    assert.deepEqual(
      added.filter((key) => !beyondTheRecord.some((beyond) => beyond.test(key))),
      [],
    );
    const writer = ours.pods.find(({ podRef }) => podRef.name === 'writer');
    const written = writer?.volume?.find(({ name }) => name === 'data')?.usedBytes ?? 0;
    const least = writtenMebibytes * 1024 * 1024;
    assert.ok(written >= least && written < 2 * least, `the volume takes ${written} bytes`);
    assert.ok((writer?.['ephemeral-storage']?.usedBytes ?? 0) > written);
  });
});

/** containerd 1.6 told the recorded kubelet less; and no pod there had a limit of memory. */
const beyondTheRecord = [
  /^pods\[\]\.(network|process_stats)\b/,
  /^pods\[\]\.(containers\[\]\.)?memory\.availableBytes$/,
  /^pods\[\]\.containers\[\]\.memory\.(majorPageFaults|pageFaults)$/,
  /^pods\[\]\.containers\[\]\.(cpu|memory|io)\.psi\b/,
];

interface SummaryPod {
  readonly podRef: { readonly name: string };
  readonly volume?: readonly { readonly name: string; readonly usedBytes: number }[];
  readonly 'ephemeral-storage'?: { readonly usedBytes: number };
}

describe('pages of figures', () => {
  before(async () => {
    // Volumes are measured for it, and checks are counted when somebody asks for them.
    await page('/stats/summary');
    await page('/healthz');
  });

  for (const [path, { record, isAbsent, isKnown, complaints }] of Object.entries(pageRecords)) {
    test(`${path} has what a Go kubelet's had, or a table says why not`, async () => {
      const { missing, changed, added } = compareMetrics(await page(path), record);
      assert.deepEqual(
        missing.filter((row) => !isAbsent(row)),
        [],
        'absent without a reason',
      );
      assert.deepEqual(changed, [], 'other types or labels');
      assert.deepEqual(
        added.filter((row) => !isKnown(row)),
        [],
        'not in the record',
      );
    });

    test(`promtool accepts ${path}`, { skip: withoutPrometheus }, async () => {
      assert.deepEqual(checkMetrics(await page(path)), complaints);
    });
  }

  test('all of them were compared', () => {
    assert.deepEqual(Object.keys(pageRecords), metricsPages);
  });

  test('logs and volumes are measured', async () => {
    const text = await page('/metrics');
    assert.match(text, /^kubelet_container_log_filesystem_used_bytes\{container="main",.*pod="writer".*\} [1-9]/m);
    assert.match(text, /^kubelet_volume_metric_collection_duration_seconds_count\{metric_source="du"\} [1-9]/m);
    assert.match(text, /^kubelet_volume_metric_collection_duration_seconds_count\{metric_source="statfs"\} [1-9]/m);
  });
});

describe('kubectl top, by a metrics-server', () => {
  test('pods with their containers', async () => {
    const busy = { name: 'burner', milliCores: 100 };
    const rows = await topPods(view, here.name, ['burner', 'holder', 'p1', 'writer'], busy);
    const burnt = rows.get('burner')?.milliCores ?? 0;
    assert.ok(burnt > 100 && burnt < 600, `${burnt}m, with a limit of 400m`);
    assert.ok((rows.get('holder')?.mebibytes ?? 0) >= heldMebibytes);
    assert.ok((rows.get('p1')?.mebibytes ?? heldMebibytes) < heldMebibytes / 2);
    assert.deepEqual(
      [...rows.values()].map(({ container }) => container),
      ['main', 'main', 'p1', 'main'],
    );
  });

  test('the node', async () => {
    const { milliCores, mebibytes } = await topNode(view, node.name);
    assert.ok(milliCores > 100, `${milliCores}m`);
    assert.ok(mebibytes > heldMebibytes, `${mebibytes}Mi`);
  });
});

describe('a Prometheus', { skip: withoutPrometheus }, () => {
  /** TUBELET_PROMETHEUS_ROUNDS=300 npm test -- control-plane/metrics: for five minutes. */
  const rounds = Number(process.env['TUBELET_PROMETHEUS_ROUNDS'] ?? 20);
  /** The machine may be busy with other things; what did not come within a second counts as late. */
  const mostLate = 1 / 4;
  const sums = async (expression: string): Promise<readonly number[]> =>
    (await prometheus.query(expression)).map(({ value }) => value);

  test('reads every page every second', async () => {
    const read = (): Promise<readonly number[]> => sums('sum_over_time(up[1h])');
    await until(
      'every page was read often enough',
      async () => {
        await clock.sleep(250);
        const each = await read();
        return each.length === metricsPages.length && each.every((count) => count >= rounds);
      },
      { timeoutMs: 60_000 + rounds * 1_500, state: read },
    );
    const { late, others } = prometheus.troubles();
    assert.deepEqual(others, []);
    assert.deepEqual(await prometheus.refused(), {});
    const dropped = await prometheus.query('scrape_samples_scraped - scrape_samples_post_metric_relabeling != 0');
    assert.deepEqual(dropped, []);
    const [all = 0] = await sums('sum(count_over_time(up[1h]))');
    process.stdout.write(`a Prometheus has read ${all} pages, ${late} of them late\n`);
    assert.ok(late <= all * mostLate, `${late} of ${all} pages were late`);
  });

  test('finds the same on pages that tell the same', async () => {
    const used = async (job: string): Promise<number> => {
      const labels = `job="${job}",namespace="${here.name}",pod="holder",container="main"`;
      return (await prometheus.query(`container_memory_working_set_bytes{${labels}}`))[0]?.value ?? 0;
    };
    const [resource, cadvisor] = [await used('/metrics/resource'), await used('/metrics/cadvisor')];
    assert.ok(resource >= heldMebibytes * 1024 * 1024, `${resource}`);
    assert.ok(Math.abs(resource - cadvisor) < resource / 10, `${resource} and ${cadvisor}`);
  });
});
