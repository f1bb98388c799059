import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { containerOf } from '../../support/real-pods.ts';
import { readyCondition } from '../../support/real-node.ts';
import { clock, until } from '../../support/real-wait.ts';
import { ClusterView, type Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type JoinedNode } from './join-node.ts';
import { RuntimeOf } from './survival/node-state.ts';
import { moody, patient, slowLeaver, stumbler, survivor, webDeployment, type SurvivalWorld } from './survival/pods.ts';
import { excessOf, laneOf, receivedAt } from './survival/request-rate.ts';
import { NodeLook } from './swap/node-look.ts';

const awayMs = 90_000;
const webs = 20;
/** Small enough for two dozen pods to feel it. */
const budget = { qps: 10, burst: 15 };

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
let look: NodeLook;
let here: Namespace;
let runtime: RuntimeOf;
let world: SurvivalWorld;
before(async () => {
  // Whether a node is given up that nobody could hear of is the controller manager's affair; here it is not.
  plane = await startControlPlane({ controllerManagerFlags: ['--node-monitor-grace-period=300s'] });
  node = await joinNode(plane, {
    config: {
      kubeAPIQPS: budget.qps,
      kubeAPIBurst: budget.burst,
      eventRecordQPS: budget.qps,
      eventBurst: budget.burst,
    },
  });
  view = new ClusterView(plane);
  look = new NodeLook(node.runtime.endpoint, join(node.names.kubeletRoot, 'pods'));
  here = await view.namespace('survival');
  runtime = new RuntimeOf(look, here);
  const folder = join(node.names.root, 'shared');
  mkdirSync(folder);
  world = { namespace: here.name, image: node.image, folder };
});
after(async () => {
  look?.close();
  view?.close();
  await node?.destroy();
  await plane?.stop();
});

const touch = (name: string): void => writeFileSync(join(world.folder, name), '');
const isReady = (pod: Pod): boolean => readyCondition(pod) === 'True';

/** Running containers of the deployment, by pod. */
const serving = (): Promise<ReadonlyMap<string, string>> => runtime.running('web-');

describe('an API server that is away for 90 seconds under load', () => {
  let servedBefore: ReadonlyMap<string, string>;
  let transitions: ReadonlyMap<string, string | undefined>;
  let wentAt = 0;
  let cameAt = 0;
  const transitionOf = ({ status }: Pod): string | undefined =>
    status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;

  before(async () => {
    await here.apply(
      webDeployment(world, webs),
      patient(world),
      moody(world),
      survivor(world, 'stumbler', stumbler('stumble')),
      slowLeaver(world, 'leaver', 10),
    );
    const ready = await here.podsWhen('app=web', 'are ready', (pods) => pods.length === webs && pods.every(isReady));
    transitions = new Map(ready.map((pod) => [pod.metadata?.uid ?? '', transitionOf(pod)]));
    for (const name of ['patient', 'moody', 'stumbler', 'leaver']) await here.podReady(name);
    // Late, so that its back-off is still short.
    await here.apply(survivor(world, 'crasher', 'sleep 1; exit 1'));
    await here.podWhen('crasher', 'has crashed', (pod) => containerOf(pod, 'main').restartCount >= 1);
    servedBefore = await serving();
    assert.equal(servedBefore.size, webs);

    await here.kubectl('delete', 'pod', 'leaver', '--wait=false');
    await node.agent.said(/SyncLoop DELETE.*leaver/);
    await plane.killApiServer();
    wentAt = clock.now();
  });

  test('containers restart, by themselves and by their probes, and nobody else is harmed', async () => {
    touch('stumble');
    touch('ill');
    touch('sulks');
    await runtime.runsAgain('stumbler', 1);
    await runtime.runsAgain('patient', 1);
    await until('the pod that was told to go has gone', () => existsSync(join(world.folder, 'leaver-left')));
    const crashes = (await runtime.newest('crasher')).attempt;
    await until(
      'the pod that crashes is still being restarted',
      async () => (await runtime.newest('crasher')).attempt > crashes,
      { timeoutMs: 120_000 },
    );
    await clock.sleep(Math.max(0, wentAt + awayMs - clock.now()));
    assert.deepEqual(await serving(), servedBefore);
    assert.equal(plane.apiServer.running, false);
    assert.equal(node.agent.running, true);
  });

  test('when it is back the node is ready soon, and everything that happened is told', async () => {
    cameAt = clock.now();
    await plane.startApiServer();
    await node.ready();
    // A quarter of what a lease lasts, and some patience with a busy machine.
    await until(
      'the lease is renewed',
      async () => {
        const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node.name}`;
        const lease = await view.get<{ readonly spec: { readonly renewTime: string } }>(path);
        return Date.parse(lease?.spec.renewTime ?? '') > cameAt;
      },
      { timeoutMs: 30_000 },
    );

    const stumbled = await here.podWhen('stumbler', 'tells of its restart', (pod) => {
      const { restartCount, state } = containerOf(pod, 'main');
      return restartCount === 1 && state?.running !== undefined && isReady(pod);
    });
    const { exitCode, finishedAt } = containerOf(stumbled, 'main').lastState?.terminated ?? {};
    assert.equal(exitCode, 3);
    const finished = Date.parse(finishedAt ?? '');
    assert.ok(finished >= wentAt - 1_000 && finished <= cameAt, `${finishedAt}`);

    await here.podWhen('patient', 'tells of its restart', (pod) => {
      const { restartCount } = containerOf(pod, 'main');
      return restartCount === 1 && isReady(pod);
    });
    const sulking = await here.podWhen('moody', 'is not ready', (pod) => !isReady(pod));
    const since = Date.parse(transitionOf(sulking) ?? '');
    assert.ok(since >= wentAt - 1_000 && since <= cameAt, `not ready since ${transitionOf(sulking)}`);
    await here.podWhen('crasher', 'tells how often it crashed', (pod) => containerOf(pod, 'main').restartCount >= 2);
    const { attempt } = await runtime.newest('crasher');
    await here.podWhen('crasher', 'tells of each crash', (pod) => containerOf(pod, 'main').restartCount >= attempt);
    await here.podGone('leaver');
  });

  test('the events of that time arrive', async () => {
    const arrived = async (pod: string, ...reasons: readonly string[]): Promise<void> => {
      const seen = async (): Promise<readonly string[]> =>
        (await here.eventsOf(pod))
          .filter(({ lastTimestamp }) => Date.parse(lastTimestamp ?? '') >= wentAt - 1_000)
          .map(({ reason = '' }) => reason);
      const all = async (): Promise<boolean> => {
        const found = await seen();
        return reasons.every((reason) => found.includes(reason));
      };
      await until(`${pod}: ${reasons.join(', ')}`, all, { timeoutMs: 60_000, state: seen });
    };
    await arrived('patient', 'Unhealthy', 'Killing', 'Created', 'Started');
    await arrived('moody', 'Unhealthy');
    await arrived('stumbler', 'Created', 'Started');
    await arrived('crasher', 'Started', 'BackOff');
  });

  test('no pod that was well was touched, and none has turned unready', async () => {
    assert.deepEqual(await serving(), servedBefore);
    const pods = await here.podsWhen('app=web', 'are ready', (all) => all.length === webs && all.every(isReady));
    for (const pod of pods) {
      assert.equal(containerOf(pod, 'main').restartCount, 0);
      assert.equal(transitionOf(pod), transitions.get(pod.metadata?.uid ?? ''), `Ready of ${pod.metadata?.name}`);
    }
  });

  test('the server was not overrun when it came back', async () => {
    const all = plane.audit().filter((event) => {
      // A watch is told of when it begins, anything else when it is answered.
      const isTold = (event.stage === 'ResponseComplete') !== (event.verb === 'watch');
      return isTold && event.user.username === `system:node:${node.name}` && receivedAt(event) >= cameAt;
    });
    assert.ok(all.length > 20, `${all.length} requests are too few to say anything`);
    for (const lane of ['normal', 'events'] as const) {
      const times = all.filter((event) => laneOf(event) === lane).map(receivedAt);
      // Requests are counted where they arrive: some may have been held up on the way, and come together.
      const slack = 5;
      const excess = excessOf(times, budget);
      assert.ok(excess <= slack, `${lane}: ${times.length} requests, ${excess.toFixed(1)} beyond the budget`);
    }
    // A server that has just come may not know yet which objects belong to which node.
    await until('nothing is refused for good', () => plane.auditForbidden().length === 0, {
      timeoutMs: 60_000,
      state: () => plane.auditForbidden(),
    });
  });
});
