import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../gen/kubernetes/types.ts';
import { Registry } from '../telemetry/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { NodeStartup } from './node-startup.ts';

const aNode = (ready: 'True' | 'False'): Node => ({ status: { conditions: [{ type: 'Ready', status: ready }] } });

function setUp() {
  const [clock, registry] = [new FakeClock(), new Registry()];
  const startup = new NodeStartup({ clock, metrics: registry, upSeconds: 40, startedAt: clock.monotonic() });
  const figures = (): readonly (string | undefined)[] =>
    ['pre_kubelet_', 'pre_registration_', 'registration_', 'post_registration_', ''].map(
      (part) => new RegExp(`^kubelet_node_startup_${part}duration_seconds (.*)$`, 'm').exec(registry.render())?.[1],
    );
  return { clock, startup, figures };
}

test('every stage from the start of the machine to a node that is ready, once', async () => {
  const { clock, startup, figures } = setUp();
  await clock.advance(2_000);
  startup.attempted();
  await clock.advance(3_000);
  startup.attempted();
  startup.registered();
  startup.reported(aNode('False'));
  assert.deepEqual(figures(), ['40', '2', '3', '0', '0']);
  await clock.advance(5_000);
  startup.reported(aNode('True'));
  const whole = ['40', '2', '3', '5', '50'];
  assert.deepEqual(figures(), whole);
  await clock.advance(60_000);
  startup.registered();
  startup.reported(aNode('True'));
  assert.deepEqual(figures(), whole);
});

test('nothing is measured for an existing node', async () => {
  const { clock, startup, figures } = setUp();
  await clock.advance(2_000);
  startup.attempted();
  startup.reported(aNode('True'));
  assert.deepEqual(figures(), ['0', '0', '0', '0', '0']);
});
