import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readyCondition, RealNode } from '../support/real-node.ts';
import { idle, podOf, podWhen, SharedFolder, shell } from '../support/real-pods.ts';
import { clock } from '../support/real-wait.ts';

/** Goes on when it is asked to end, and notes the machine's uptime when it was asked and as long as it lives. */
const deaf =
  "trap 'cp /shared/beat /shared/term' TERM; touch /shared/up; " +
  'while true; do read up rest < /proc/uptime; echo $up > /shared/.beat; mv /shared/.beat /shared/beat; sleep 0.1; done';
/** Its trap is set before it counts as ready. */
const startupProbe = {
  exec: { command: ['test', '-f', '/shared/up'] },
  periodSeconds: 1,
  failureThreshold: 60,
};
const many = Array.from({ length: 20 }, (_, index) => `small-${index}`);
const hangGrace = 15;

let node: RealNode;
before(async () => {
  node = await RealNode.start('hangs');
  const { volumes, mounts } = new SharedFolder(node, 'hang');
  const hanging = [shell('main', node.image, deaf, { ...mounts, startupProbe })];
  node.put('hang', podOf('hang', { volumes, containers: hanging, terminationGracePeriodSeconds: hangGrace }));
  const containers = [shell('main', node.image, idle)];
  for (const name of many) node.put(name, podOf(name, { containers, terminationGracePeriodSeconds: 2 }));
  await node.workingAgent();
});
after(() => node?.destroy());

describe('a pod whose container hangs in its stop', () => {
  test('does not delay the others', async (context) => {
    for (const name of [...many, 'hang']) {
      await podWhen(node, name, 'is ready', (pod) => readyCondition(pod) === 'True');
    }
    const began = clock.monotonic();
    for (const name of [...many, 'hang']) rmSync(join(node.names.manifests, `${name}.json`));
    for (const name of many) await node.runtime.gone(name);
    const ms = Math.round(clock.monotonic() - began);
    context.diagnostic(`${many.length} pods were gone after ${ms} ms`);
    assert.equal((await node.runtime.running('hang')).size, 1, `after ${ms} ms`);
    await node.runtime.gone('hang');
    const folder = new SharedFolder(node, 'hang');
    const notedAt = (name: string): number => Number(readFileSync(folder.file(name), 'utf8'));
    const lived = notedAt('beat') - notedAt('term');
    assert.ok(Math.abs(lived - hangGrace) < 1.5, `it lived for ${lived} s`);
  });
});
