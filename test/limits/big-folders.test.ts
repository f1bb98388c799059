import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { aContainer } from '../../src/testing/pods.ts';
import { safeRemove } from '../../src/host/safe-remove.ts';
import { clock, until } from '../support/real-wait.ts';
import { attack } from './support/attack.ts';
import { LimitNode, type Endured } from './support/limit-node.ts';

/** Names in one folder; TUBELET_LIMITS_NAMES=2000000 for what the defects were found with. */
const names = Number(process.env['TUBELET_LIMITS_NAMES'] ?? 200_000);
const minutesMs = Math.max(3, names / 50_000) * 60_000;
/** The names alone take as much for each of a million. */
const maxGrowthKb = 96 * 1024;

let node: LimitNode;
let admin: { readonly cert: string; readonly key: string };
before(async () => {
  node = await LimitNode.start('big-folders', { configuration: { volumeStatsAggPeriod: '1s' } });
  admin = await node.clientFiles();
});
after(() => node?.destroy());

/** A pod with an emptyDir; answers the folder of that on this machine. */
async function podWithFolder(name: string): Promise<string> {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  node.schedule(name, {
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [aContainer('main', { volumeMounts })],
  });
  const { metadata } = await node.ready(name);
  return join(node.rootDir, 'pods', metadata?.uid ?? '', 'volumes/kubernetes.io~empty-dir/data');
}

/** Inodes of a pod's emptyDir as the summary has them. */
async function inodesOf(name: string): Promise<number | undefined> {
  const { body } = await node.ask('/stats/summary', admin);
  const summary = JSON.parse(body) as {
    pods: { podRef: { name: string }; volume?: { name: string; inodesUsed?: number }[] }[];
  };
  const pod = summary.pods.find(({ podRef }) => podRef.name === name);
  return pod?.volume?.find((volume) => volume.name === 'data')?.inodesUsed;
}

function demandLittleMemory(endured: Endured): void {
  const growthKb = endured.rssPeakKb - endured.rssBeforeKb;
  assert.ok(growthKb < maxGrowthKb, `memory grew by ${growthKb} KiB: ${JSON.stringify(endured)}`);
}

// All names of a folder were read at once, to be measured and to be removed, and each inode of several names was kept.
for (const [kind, count, inodes] of [
  ['files', names, names + 1],
  ['links', names, names / 2 + 1],
  ['folders', Math.floor(names / 20), 2 * Math.floor(names / 20) + 1],
] as const) {
  test(`an emptyDir of ${count} names, ${kind}, is measured and removed`, async (context) => {
    const name = `full-of-${kind}`;
    const folder = await podWithFolder(name);
    const { ms } = await attack<{ ms: number }>('fill-folder.mjs', folder, count, kind);
    let began = clock.monotonic();
    const measured = await node.during(async () => {
      const state = (): unknown => node.agent.text.slice(-1_000);
      const options = { timeoutMs: minutesMs, intervalMs: 1_000, state };
      await until(`${inodes} inodes are measured`, async () => (await inodesOf(name)) === inodes, options);
    });
    const measuredMs = clock.monotonic() - began;
    began = clock.monotonic();
    const removed = await node.during(async () => {
      await node.remove(name, minutesMs);
      await until('the folder is gone', () => !existsSync(folder), { timeoutMs: minutesMs });
    });
    const removedMs = clock.monotonic() - began;
    context.diagnostic(JSON.stringify({ count, filledMs: ms, measuredMs, removedMs, measured, removed }));
    demandLittleMemory(measured);
    demandLittleMemory(removed);
  });
}

// The names of a folder of logs were read at once whenever a container was started, and `Math.max` took them as arguments.
test('a folder of logs with very many names holds up neither the container nor its end', async () => {
  const { metadata } = await (node.schedule('logs'), node.ready('logs'));
  const logs = join(node.podLogs, `default_logs_${metadata?.uid}`, 'main');
  mkdirSync(logs, { recursive: true });
  await attack('fill-folder.mjs', logs, Math.floor(names / 2), 'files');
  const endured = await node.during(async () => {
    const { status } = await node.ask('/containerLogs/default/logs/main', admin);
    assert.equal(status, 200);
    await node.remove('logs', minutesMs);
    await until('the logs are gone', () => !existsSync(logs), { timeoutMs: minutesMs });
  });
  demandLittleMemory(endured);
});

test('the list of a folder of very many logs is bounded', async () => {
  const folder = mkdtempSync('/var/log/tubelet-limits-');
  try {
    await attack('fill-folder.mjs', folder, Math.floor(names / 2), 'files');
    const endured = await node.during(async () => {
      const { status, body } = await node.ask(`/logs/${folder.slice('/var/log/'.length)}/`, admin);
      assert.equal(status, 200);
      assert.match(body, /\.\.\. and more\n<\/pre>\n$/);
      assert.ok(body.length < 4 * 1024 * 1024, `${body.length}`);
    });
    demandLittleMemory(endured);
  } finally {
    await safeRemove(folder);
  }
});
