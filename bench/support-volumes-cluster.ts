import { loadavg } from 'node:os';
import type { PodSpec } from '../src/gen/kubernetes/types.ts';
import { BenchCluster, namespaceOf } from './support-pods-cluster.ts';
import { usage } from './support-usage.ts';

export type Kind = 'without' | 'with';

interface Turn {
  readonly kind: Kind;
  readonly ms: number;
  readonly cpuMs: number;
  readonly load: number;
}

/** A ConfigMap, a Secret, and the access to the API server that every pod has by itself: token, authority, namespace. */
const specOf: Readonly<Record<Kind, Partial<PodSpec>>> = {
  without: { automountServiceAccountToken: false, terminationGracePeriodSeconds: 1 },
  with: {
    terminationGracePeriodSeconds: 1,
    volumes: [
      { name: 'config', configMap: { name: 'bench' } },
      { name: 'secret', secret: { secretName: 'bench' } },
    ],
  },
};

/** Crowds of pods of a real API server, from the first request to the last Ready that a watch shows. */
export async function crowds(count: number, kinds: readonly Kind[], data: Record<string, string>): Promise<Turn[]> {
  const cluster = await BenchCluster.start();
  const namespace = namespaceOf.tubelet;
  const turns: Turn[] = [];
  try {
    await cluster.objects(namespace, data);
    await cluster.use('tubelet');
    for (const [turn, kind] of kinds.entries()) {
      const names = Array.from({ length: count }, (_, index) => `turn-${turn}-${index}`);
      const before = usage(cluster.agentPid).cpuSeconds;
      const lapses = await Promise.all(names.map((name) => cluster.create(namespace, name, 1, specOf[kind])));
      const cpuMs = (usage(cluster.agentPid).cpuSeconds - before) * 1_000;
      const [began, ended] = [lapses.map(({ sentAt }) => sentAt), lapses.map(({ seenAt }) => seenAt)];
      const ms = Math.max(...ended) - Math.min(...began);
      turns.push({ kind, ms, cpuMs, load: loadavg()[0] ?? Number.NaN });
      console.log(`  ${kind.padEnd(7)} ${(ms / 1_000).toFixed(1)} s, load ${turns.at(-1)?.load.toFixed(1)}`);
      await Promise.all(names.map((name) => cluster.delete(namespace, name)));
    }
  } finally {
    await cluster.destroy();
  }
  return turns;
}
