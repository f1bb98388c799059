import { clock, until } from '../../../support/real-wait.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { ControlPlane } from '../control-plane.ts';

/** A metrics-server has something to tell after two looks, ten seconds apart. */
const patienceMs = 90_000;
const lookMs = 250;

interface TopRow {
  readonly container: string;
  readonly milliCores: number;
  readonly mebibytes: number;
}

/**
 * What `kubectl top pod --containers` shows, once all of these pods with one container are there and the busy one shows
 * that it is busy.
 */
export async function topPods(
  view: ClusterView,
  namespace: string,
  wanted: readonly string[],
  busy: { readonly name: string; readonly milliCores: number },
): Promise<ReadonlyMap<string, TopRow>> {
  // Asked for without a kubectl each time, which costs more than what is measured.
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
  const look = async (): Promise<ReadonlyMap<string, number>> => {
    const { items = [] } = (await view.get<{ readonly items: readonly PodMetrics[] }>(path)) ?? {};
    return new Map(items.map(({ metadata, containers }) => [metadata.name, nanoCores(containers[0]?.usage.cpu)]));
  };
  await until(
    'metrics-server tells of all pods',
    async () => {
      const rows = await look();
      if (wanted.every((name) => rows.has(name)) && (rows.get(busy.name) ?? 0) > busy.milliCores * 1e6) return true;
      return clock.sleep(lookMs).then(() => false);
    },
    { timeoutMs: patienceMs, state: async () => [...(await look())] },
  );
  const lines = await table(view.plane, 'pod', '--containers', `--namespace=${namespace}`);
  return new Map(lines.map(([pod = '', ...rest]) => [pod, rowOf(rest)]));
}

/** What `kubectl top node` shows of one. */
export async function topNode(view: ClusterView, name: string): Promise<TopRow> {
  await until(`metrics-server tells of ${name}`, () => view.get(`/apis/metrics.k8s.io/v1beta1/nodes/${name}`), {
    timeoutMs: patienceMs,
  });
  const [, cores = '', , memory = ''] = (await table(view.plane, 'node')).find(([node]) => node === name) ?? [];
  return rowOf(['', cores, memory]);
}

interface PodMetrics {
  readonly metadata: { readonly name: string };
  readonly containers: readonly { readonly usage: { readonly cpu: string } }[];
}

function nanoCores(text = ''): number {
  return text === '0' ? 0 : amount(text, 'n');
}

async function table(plane: ControlPlane, ...words: readonly string[]): Promise<readonly (readonly string[])[]> {
  const text = await plane.ask('top', ...words, '--no-headers');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [line.trim().split(/\s+/)]));
}

function rowOf([container = '', cores = '', memory = '']: readonly string[]): TopRow {
  return { container, milliCores: amount(cores, 'm'), mebibytes: amount(memory, 'Mi') };
}

function amount(text: string, unit: string): number {
  if (!/^\d+/.test(text) || text.replace(/^\d+/, '') !== unit) throw new Error(`${text} is no amount in ${unit}`);
  return Number.parseInt(text, 10);
}
