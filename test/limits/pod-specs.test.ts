import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode, nodeName } from './support/limit-node.ts';

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('pod-specs');
});
after(() => node?.destroy());

const waitingOf = (name: string): { readonly reason?: string; readonly message?: string } | undefined =>
  node.pod(name)?.status?.containerStatuses?.[0]?.state?.waiting;

function forget(name: string): void {
  node.api.objects.remove(apiResources.pods, { namespace: 'default', name });
}

async function refused(names: readonly string[], reason: string): Promise<void> {
  await until(
    `${names.length} pods are refused`,
    () => names.every((name) => node.pod(name)?.status?.reason === reason),
    {
      timeoutMs: 120_000,
      state: () => ({ one: node.pod(names[0] ?? '')?.status, log: node.agent.text.slice(-2_000) }),
    },
  );
}

test('a hundred and ten pods of 1.2 MB in one list are refused one by one', async () => {
  const names = Array.from({ length: 110 }, (_, index) => `big-${index}`);
  const value = 'x'.repeat(1_200_000);
  const endured = await node.during(async () => {
    // The mirror has to ask for everything again, and finds all of them in one answer.
    node.api.faults.dropWatches('expired');
    for (const name of names)
      node.schedule(name, { containers: [aContainer('main', { env: [{ name: 'A', value }] })] });
    await refused(names, 'PodTooLarge');
  });
  assert.match(node.pod('big-0')?.status?.message ?? '', /more than 524288 bytes of memory; move what is long into/);
  // 132 MB come in the list, and again with every status; the engine collects what is left over in its own time.
  assert.ok(endured.rssPeakKb - endured.rssBeforeKb < 300 * 1024, JSON.stringify(endured));
  for (const name of names) forget(name);
  await until('they are gone', () => names.every((name) => node.pod(name) === undefined), { timeoutMs: 60_000 });
  await node.memoryReturns(endured.rssBeforeKb + 80 * 1024);
});

test('a pod that grows while it runs keeps running as it was, and can be removed', async () => {
  node.schedule('growing');
  const small = await node.ready('growing');
  await node.during(async () => {
    for (let round = 0; round < 20; round++) {
      const before = node.pod('growing') as Pod;
      const annotations = { long: String(round).repeat(300_000), longer: 'y'.repeat(700_000) };
      node.api.objects.put({ ...before, metadata: { ...before.metadata, annotations } });
    }
    await node.agent.said(/An update that makes a pod too large is not taken/);
  });
  const now = node.pod('growing')?.status?.containerStatuses?.[0];
  assert.equal(now?.containerID, small.status?.containerStatuses?.[0]?.containerID);
  assert.equal(now?.restartCount, 0);
  await node.remove('growing');
});

test('references without an end, and references that double, are refused or cheap', async () => {
  const doubling = [{ name: 'V0', value: 'xxxx' }];
  for (let level = 1; level < 60; level++)
    doubling.push({ name: `V${level}`, value: `$(V${level - 1})$(V${level - 1})` });
  const cases: readonly (readonly [string, Parameters<typeof aContainer>[1]])[] = [
    ['doubling', { env: doubling }],
    ['command', { env: [{ name: 'A', value: 'x'.repeat(100_000) }], command: ['$(A)'.repeat(50_000)] }],
    ['open', { command: ['$('.repeat(200_000)] }],
  ];
  const endured = await node.during(async () => {
    for (const [name, container] of cases) node.schedule(name, { containers: [aContainer('main', container)] });
    for (const name of ['doubling', 'command']) {
      await until(`${name} is refused`, () => waitingOf(name)?.reason === 'CreateContainerConfigError', {
        state: () => node.pod(name)?.status,
      });
      assert.match(waitingOf(name)?.message ?? '', /take more than 2097152 bytes once references are expanded/);
    }
    await node.ready('open');
  });
  assert.ok(endured.rssPeakKb - endured.rssBeforeKb < 150 * 1024, JSON.stringify(endured));
  for (const [name] of cases) await node.remove(name);
});

test('very long lists of everything cost one pod each', async () => {
  const list = <T>(length: number, make: (index: number) => T): T[] =>
    Array.from({ length }, (_, index) => make(index));
  const specs: Readonly<Record<string, Partial<NonNullable<Pod['spec']>>>> = {
    containers: { containers: list(8_000, (index) => aContainer(`c${index}`)) },
    env: { containers: [aContainer('main', { env: list(20_000, (index) => ({ name: `E${index}`, value: 'v' })) })] },
    ports: { containers: [aContainer('main', { ports: list(20_000, (index) => ({ containerPort: index + 1 })) })] },
    volumes: { volumes: list(10_000, (index) => ({ name: `v${index}`, emptyDir: {} })) },
    tolerations: { tolerations: list(10_000, (index) => ({ key: `k${index}`, operator: 'Exists' })) },
    hosts: { hostAliases: list(10_000, (index) => ({ ip: '10.0.0.1', hostnames: [`h${index}`] })) },
    secrets: { imagePullSecrets: list(15_000, (index) => ({ name: `s${index}` })) },
  };
  const names = Object.keys(specs).map((name) => `long-${name}`);
  await node.during(async () => {
    for (const [name, spec] of Object.entries(specs)) node.schedule(`long-${name}`, spec);
    await refused(names, 'PodTooLarge');
  });
  for (const name of names) forget(name);
  // What is long but not too long runs.
  const env = list(1_500, (index) => ({ name: `E${index}`, value: 'v' }));
  node.schedule(
    'long-enough',
    { nodeName, containers: [aContainer('main', { env })] },
    { annotations: { a: 'x'.repeat(250_000) } },
  );
  await node.ready('long-enough');
  await node.remove('long-enough');
});
