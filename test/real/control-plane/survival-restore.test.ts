import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { readyCondition } from '../../support/real-node.ts';
import { containerOf, idle } from '../../support/real-pods.ts';
import { until } from '../../support/real-wait.ts';
import { ClusterView, type Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type JoinedNode } from './join-node.ts';
import { portraitOf, RuntimeOf } from './survival/node-state.ts';
import { slowLeaver, stumbler, survivor, webDeployment, type SurvivalWorld } from './survival/pods.ts';
import { NodeLook } from './swap/node-look.ts';

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
let look: NodeLook;
let here: Namespace;
let runtime: RuntimeOf;
let world: SurvivalWorld;
before(async () => {
  plane = await startControlPlane();
  node = await joinNode(plane);
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

const webs = 3;
const isReady = (pod: Pod): boolean => readyCondition(pod) === 'True';
const uidOf = (pod: Pod): string => pod.metadata?.uid ?? '';
const websReady = (count: number): Promise<readonly Pod[]> =>
  here.podsWhen('app=web', `are ${count} and ready`, (pods) => pods.length === count && pods.every(isReady));

/** Puts a manifest into the folder. */
function put(name: string, script: string): void {
  const hidden = join(node.names.manifests, `.${name}.new`);
  writeFileSync(hidden, JSON.stringify(survivor(world, name, script)));
  renameSync(hidden, join(node.names.manifests, `${name}.json`));
}

describe('a store that was set back', () => {
  test('ends what it never knew, runs what it still has, and harms nobody else', async () => {
    put('fixed', idle);
    await here.apply(webDeployment(world, webs), survivor(world, 'steady', idle), survivor(world, 'doomed', idle));
    const kept = await websReady(webs);
    const steady = await here.podReady('steady');
    const doomed = await here.podReady('doomed');
    const fixed = await here.podReady('fixed-node-1');
    const snapshot = await plane.snapshotEtcd();

    await here.apply(slowLeaver(world, 'late', 2));
    await here.kubectl('scale', 'deployment/web', `--replicas=${webs + 2}`);
    const all = await websReady(webs + 2);
    const late = await here.podReady('late');
    await here.kubectl('delete', 'pod', 'doomed', '--timeout=60s');
    await runtime.gone(uidOf(doomed));

    await plane.restoreEtcd(snapshot);
    await node.ready();
    const unknown = all.filter((pod) => !kept.some((one) => uidOf(one) === uidOf(pod)));
    assert.equal(unknown.length, 2);
    for (const pod of [...unknown, late]) await runtime.gone(uidOf(pod));
    assert.ok(existsSync(join(world.folder, 'late-left')), 'it was asked to go, and had the time to');
    assert.equal(await here.pod('late'), undefined);

    const again = await here.podWhen('doomed', 'runs again', (pod) => {
      const before = containerOf(doomed, 'main').containerID;
      return isReady(pod) && containerOf(pod, 'main').containerID !== before;
    });
    assert.equal(uidOf(again), uidOf(doomed));

    assert.deepEqual((await websReady(webs)).map(portraitOf), kept.map(portraitOf));
    assert.deepEqual(portraitOf(await here.podReady('steady')), portraitOf(steady));
    const shown = await here.podReady('fixed-node-1');
    assert.deepEqual(portraitOf(shown), portraitOf(fixed));
  });

  test('the cluster goes on from there', async () => {
    await here.kubectl('scale', 'deployment/web', `--replicas=${webs + 1}`);
    await websReady(webs + 1);
    await here.kubectl('delete', 'pod', 'doomed', '--timeout=60s');
    await here.kubectl('scale', 'deployment/web', `--replicas=${webs}`);
    await here.podsWhen('app=web', 'are as many as before', (pods) => pods.length === webs && pods.every(isReady));
  });
});

describe('an agent that is killed, and starts while the API server is away', () => {
  test('lets run what runs, looks after the static pods, and changes nothing when the server is back', async () => {
    put('stumbler', stumbler('stumble'));
    await here.podReady('stumbler-node-1');
    await here.podReady('steady');
    const before = (await here.pods()).map(portraitOf);
    const running = await runtime.running();

    await plane.killApiServer();
    await node.stopAgent('SIGKILL');
    node.start('tubelet');
    await node.agent.said(/Component started.*file-source/);
    writeFileSync(join(world.folder, 'stumble'), '');
    const stumbled = await runtime.runsAgain('stumbler-node-1', 1);
    put('newcomer', idle);
    const { id: newcomer } = await runtime.runsAgain('newcomer-node-1', 0);
    const expected = new Map([...running, ['stumbler-node-1/main', stumbled.id], ['newcomer-node-1/main', newcomer]]);
    assert.deepEqual(await runtime.running(), expected);

    await plane.startApiServer();
    await node.ready();
    await here.podReady('newcomer-node-1');
    await here.podWhen('stumbler-node-1', 'tells of its restart', (pod) => {
      const { restartCount, state } = containerOf(pod, 'main');
      return restartCount === 1 && state?.running !== undefined && isReady(pod);
    });
    // Everything the agent had to say has been said when it answers for a pod that it has only heard of now.
    await here.apply(survivor(world, 'afterwards', idle));
    await here.podReady('afterwards');
    const others = (pods: readonly unknown[]): readonly unknown[] =>
      pods.filter((pod) => !/^(stumbler|newcomer|afterwards)/.test((pod as { readonly name: string }).name));
    assert.deepEqual(others((await here.pods()).map(portraitOf)), others(before));
    for (const [owner, id] of expected) assert.equal((await runtime.running()).get(owner), id, owner);
    await until('nothing is refused for good', () => plane.auditForbidden().length === 0, {
      timeoutMs: 60_000,
      state: () => plane.auditForbidden(),
    });
  });
});
