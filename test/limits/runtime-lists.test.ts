import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PodSandboxConfig } from '../../src/gen/cri/api.ts';
import { podNameLabel, podNamespaceLabel, podUidLabel } from '../../src/model/labels.ts';
import { aContainer } from '../../src/testing/pods.ts';
import { until } from '../support/real-wait.ts';
import { LimitNode } from './support/limit-node.ts';

let node: LimitNode;
before(async () => {
  node = await LimitNode.start('runtime-lists');
});
after(() => node?.destroy());

/** A sandbox that a kubelet without these limits left behind. */
async function heavySandbox(name: string, bytes: number): Promise<string> {
  const labels = { [podNameLabel]: name, [podNamespaceLabel]: 'default', [podUidLabel]: `uid-${name}` };
  const { podSandboxId } = await node.cri.runPodSandbox({
    config: PodSandboxConfig.fromPartial({
      metadata: { name, namespace: 'default', uid: labels[podUidLabel] },
      annotations: { heavy: 'x'.repeat(bytes) },
      labels,
    }),
    runtimeHandler: '',
  });
  return podSandboxId;
}

async function restarts(count: number): Promise<void> {
  node.cri.killContainer(node.cri.containerNamed('seen')?.id ?? '', { code: 1 });
  await until(
    `the container was started again, ${count} in all`,
    () => node.pod('seen')?.status?.containerStatuses?.[0]?.restartCount === count,
    { timeoutMs: 30_000, state: () => node.pod('seen')?.status },
  );
}

test('a list that is too long for one message blinds the agent to no other pod', async () => {
  node.schedule('seen', { containers: [aContainer('seen')] });
  await node.ready('seen');
  // Only lists tell of anything from now on.
  node.cri.events.loseNext(Number.POSITIVE_INFINITY);
  await node.during(async () => {
    // The agent would clean them up; here they stay as long as the attack does.
    const heavy = new Set<string>();
    const when = (request: unknown): boolean => heavy.has((request as { readonly podSandboxId: string }).podSandboxId);
    node.cri.faults.fail('stopPodSandbox', 'internal', { when });
    for (const name of ['heavy-1', 'heavy-2', 'heavy-3']) heavy.add(await heavySandbox(name, 12 * 1024 * 1024));
    await node.agent.said(/The list of the runtime is too long for one message/);
    await restarts(1);
  });
  // Nor does it blind an agent that knows of no pod yet.
  await node.stopAgent();
  await node.startAgent();
  await node.during(() => restarts(2));
  const answer = await node.healthz();
  assert.equal(answer.status, 200);
  await node.remove('seen');
});

test('what pods put into labels and annotations is bounded before the runtime is given it', async () => {
  const metadata = { annotations: { long: 'x'.repeat(200_000), short: 'y' } };
  for (let index = 0; index < 20; index++) node.schedule(`noted-${index}`, {}, metadata);
  for (let index = 0; index < 20; index++) await node.ready(`noted-${index}`);
  const { items } = await node.cri.listPodSandbox({ filter: undefined });
  const noted = items.filter(({ labels }) => labels[podNameLabel]?.startsWith('noted-') === true);
  assert.equal(noted.length, 20);
  for (const { annotations } of noted) assert.deepEqual([annotations['long'], annotations['short']], [undefined, 'y']);
  for (let index = 0; index < 20; index++) await node.remove(`noted-${index}`);
});
