import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readMountInfo } from '../../src/host/index.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';

/** To free so many takes the kernel well over a second, in one call. */
const inodes = 600_000;
const together = 20_000;
/** Far less than the call takes, and enough for a busy machine. */
const maxAnswerMs = 500;

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('mounts');
});
after(() => node?.destroy());

test('a volume in memory with very many files is given back without a pause of everything else', async (context) => {
  const pod = node.schedule('big', {
    volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
    containers: [aContainer('main', { volumeMounts: [{ name: 'memory', mountPath: '/memory' }] })],
  });
  await node.ready('big');
  const uid = pod.metadata?.uid ?? '';
  const folder = join(node.rootDir, 'pods', uid, 'volumes/kubernetes.io~empty-dir/memory');
  const isMounted = (): boolean => readMountInfo().some(({ mountPoint }) => mountPoint === folder);
  assert.ok(isMounted());
  for (let at = 0; at < inodes; at += together) {
    const part = join(folder, `d${at}`);
    mkdirSync(part);
    for (let file = 0; file < together; file++) symlinkSync('x', join(part, `f${file}`));
  }
  const { health } = await node.during(async () => {
    await node.remove('big');
    await until('the memory is given back', () => !isMounted());
  });
  context.diagnostic(JSON.stringify(health));
  assert.ok(health.slowestMs < maxAnswerMs + health.lateMs, JSON.stringify(health));
});
