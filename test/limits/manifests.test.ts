import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { LimitNode, nodeName } from './support/limit-node.ts';

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('manifests');
});
after(() => node?.destroy());

const pod = (name: string, more: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [aContainer('main')], ...more },
});
const head = 'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec:\n';

test('manifests that are dear to read are refused with what to do, and the others run', async () => {
  const aliases = Array.from(
    { length: 40 },
    (_, level) => `  a${level}: &a${level} [${level === 0 ? 'x' : `*a${level - 1}, *a${level - 1}`}]\n`,
  );
  const texts: Readonly<Record<string, readonly [string, RegExp]>> = {
    'one-line.yaml': [`${head}  containers: [${'{},'.repeat(660_000)}]`, /200000 values: split it into several files/],
    'too-long.yaml': [`${head}  containers: [${'a, '.repeat(1_000_000)}]`, /write it as JSON/],
    'aliases.yaml': [`${head}${aliases.join('')}`, /aliases of the document stand for too many values/],
    'deep.yaml': [`${head}  x: ${'['.repeat(1_000_000)}`, /nesting exceeded/],
    'values.json': [
      JSON.stringify(pod('bad', { x: Array.from({ length: 1_000_000 }, () => 1) })),
      /200000 values: split/,
    ],
    'unknown.json': [
      JSON.stringify(
        pod('Bad_Name', Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`unknown${index}`, 1]))),
      ),
      /metadata.name: Invalid value/,
    ],
  };
  const endured = await node.during(async () => {
    for (const [name, [text]] of Object.entries(texts)) node.putManifest(name, text);
    for (const [name, [, message]] of Object.entries(texts)) {
      await node.agent.said(new RegExp(`Bad static pod manifest.*${name}.*${message.source}`));
    }
  });
  assert.ok(endured.rssPeakKb - endured.rssBeforeKb < 250 * 1024, JSON.stringify(endured));
  for (const name of Object.keys(texts)) node.removeManifest(name);
  await node.memoryReturns(endured.rssBeforeKb + 80 * 1024);
  node.putManifest('good.yaml', JSON.stringify(pod('good')));
  await node.ready(`good-${nodeName}`);
});

test('a long manifest in JSON is read, and what is too large as a pod is refused as one', async () => {
  const env = Array.from({ length: 20_000 }, (_, index) => ({ name: `E${index}`, value: 'v'.repeat(20) }));
  await node.during(async () => {
    node.putManifest('long.json', JSON.stringify(pod('long', { containers: [aContainer('main', { env })] })));
    await node.agent.said(/Pod was not admitted.*long-limits-node.*PodTooLarge/);
  });
  node.removeManifest('long.json');
});
