import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { FileLock } from '../../../src/host/index.ts';
import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { idle, podOf, shell } from '../../support/real-pods.ts';
import { until } from '../../support/real-wait.ts';
import { goKubeletTurn } from './go-kubelet-turn.ts';
import { betweenTwins, onTakeOver, unexplained } from './swap/differences.ts';
import { describeDifference, differencesOf } from './swap/flatten.ts';
import { filesLeft, recordsLeft } from './swap/leftovers.ts';
import { swapDeployments, swapJob, swapPods } from './swap/pods.ts';
import { nameOf } from './swap/pod-watch.ts';
import { SwapStage } from './swap/stage.ts';
import { changesBetween, countsOf, sceneOf, versionChanges, type Scene } from './swap/steady.ts';
import { portrait, portraitParts, type Portrait } from './swap/twins.ts';

/**
 * The Go kubelet runs pods of every kind, tubelet takes its place, and then it comes back: nothing that runs may notice.
 * One story in order; each test goes on where the one before ended.
 */
const first = 'swapped';
const second = 'twins';
const staticOne = 'kube-system/static-1-node-1';
const staticTwo = 'kube-system/static-2-node-1';
/** Pods of Deployments, of the Job and of the manifests folder: those that are no twin of another. */
const others = 3 + 2 + 1 + 1;

let stage: SwapStage;
/** What each pod of the first namespace is like as the Go kubelet made it. */
const portraits = new Map<string, Portrait>();
let scene: Scene;
let crashesBefore = 0;
let turn: FileLock | undefined;
before(async () => {
  turn = await goKubeletTurn();
  stage = await SwapStage.open();
});
after(async () => {
  await stage?.close();
  await turn?.release();
});

/** Pods of the first namespace to which nothing should happen. */
const isSteady = (name: string): boolean =>
  name === staticOne || (name.startsWith(`${first}/`) && !/\/(crash|leaver|arrival)$/.test(name));
/** Pods of both that should stay as they are when the Go kubelet comes back. */
const isKept = (name: string): boolean =>
  isSteady(name) ||
  name === staticTwo ||
  name === `${first}/arrival` ||
  (name.startsWith(`${second}/`) && !/\/(crash|leaver)$/.test(name));

const podNamed = (name: string): Pod => {
  const pod = stage.watch.now().get(name);
  if (pod === undefined) throw new Error(`there is no pod ${name}`);
  return pod;
};
const portraitOf = async (name: string): Promise<Portrait> =>
  portrait(stage.look, stage.node.names, await stage.sitter(podNamed(name)));
const crashes = (): number => podNamed(`${first}/crash`).status?.containerStatuses?.[0]?.restartCount ?? 0;
const named = (namespace: string, names: Iterable<string>): readonly string[] =>
  [...names].map((name) => `${namespace}/${name}`);

/** Deletes a pod that has every kind of volume, and waits until nothing of it is left. */
async function leave(namespace: string, left: typeof recordsLeft | typeof filesLeft): Promise<void> {
  const { look, node, plane } = stage;
  const gone = { namespace, name: 'leaver', uid: podNamed(`${namespace}/leaver`).metadata?.uid ?? '' };
  await plane.ask('delete', 'pod', gone.name, `--namespace=${namespace}`, '--timeout=60s');
  const all = async (): Promise<readonly string[]> => [
    ...filesLeft(look, node.names, gone),
    ...(await left(look, node.names, gone)),
  ];
  await until(`nothing is left of ${namespace}/leaver`, async () => (await all()).length === 0, {
    timeoutMs: 60_000,
    state: all,
  });
}

/** A ConfigMap that is mounted reaches the program that reads it. */
async function recolor(color: string): Promise<void> {
  const metadata = { name: 'settings', namespace: first };
  await stage.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color, 'b.conf': 'two\n' } }]);
  const reader = (await stage.look.containers()).find(({ owner }) => owner === `${first}/config-map/main`);
  const read = (): Promise<string> => stage.look.exec(reader?.id ?? '', 'cat', '/v/whole/color');
  await until('the changed ConfigMap is seen', async () => (await read()) === color, {
    timeoutMs: 90_000,
    state: read,
  });
}

describe('the swap', () => {
  test('the Go kubelet runs pods of every kind', async () => {
    await stage.handTo('kubelet');
    const world = await stage.world(first);
    const pods = swapPods(world);
    stage.putStatic('static-1', '11111111-2222-4333-8444-555555555555');
    await stage.apply([...swapDeployments(world), swapJob(world), ...pods.values()]);
    await stage.settled(pods.size + others);
    stage.say(`${pods.size + others} pods are as they should be`);
    for (const name of [...named(first, pods.keys()), staticOne]) portraits.set(name, await portraitOf(name));
    scene = await sceneOf(stage.look, isSteady);
  });

  test('tubelet takes over: no container, mount, file, status or event shows it', async () => {
    const { watch, look } = stage;
    const [pods, since, marks] = [watch.now(), watch.length, await stage.marks()];
    const [writes, known] = [stage.statusWrites().length, new Set(await stage.events())];
    crashesBefore = crashes();
    await stage.handTo('tubelet');
    await stage.probedAgain(marks);
    const now = await sceneOf(look, isSteady);
    assert.deepEqual(unexplained(changesBetween(scene, now), onTakeOver), { open: [], idle: [] });
    // No version of any of them: neither readiness nor a time in it has changed, and nobody has tried to.
    assert.deepEqual(versionChanges(watch, pods, since, isSteady), []);
    assert.deepEqual(stage.statusWrites().slice(writes).filter(isSteady), []);
    const news = (await stage.events()).filter((event) => !known.has(event));
    assert.deepEqual(
      news.filter((event) => isSteady(event.split(' ')[0] ?? '')),
      [],
    );
    const statuses = [...pods.keys()].filter(isSteady).length;
    stage.say(`as before: ${countsOf(now)}, ${statuses} statuses; ${marks.size} containers are probed on`);
  });

  test('tubelet works on with what it took over', async () => {
    const { watch, node, plane } = stage;
    const [pods, since] = [watch.now(), watch.length];
    const twins = swapPods(await stage.world(second));
    stage.putStatic('static-2', '11111111-2222-4333-8444-666666666666');
    const spec = { terminationGracePeriodSeconds: 2, containers: [shell('main', node.image, idle)] };
    await stage.apply([...twins.values(), podOf('arrival', spec, { namespace: first })]);
    await leave(first, recordsLeft);
    await recolor('red');
    await until('the crashing pod goes on', () => crashes() > crashesBefore, { timeoutMs: 90_000 });
    await stage.settled(pods.size + twins.size + 1);
    assert.deepEqual(versionChanges(watch, pods, since, isSteady), []);
    assert.deepEqual(plane.auditForbidden(`system:node:${node.name}`), []);
    const restarts = crashes() - crashesBefore;
    stage.say(`a ConfigMap was changed, a pod deleted, ${twins.size + 2} made, one restarted ${restarts} times`);
  });

  test('equal pods of both agents are equal on disk, in cgroups, in the runtime and to the API server', async () => {
    const found: string[] = [];
    const counts = new Map<string, number>();
    for (const [name, made] of portraits) {
      const twin = await portraitOf(name === staticOne ? staticTwo : name.replace(first, second));
      for (const part of portraitParts) {
        counts.set(part, (counts.get(part) ?? 0) + made[part].size);
        const pairs = differencesOf(made[part], twin[part]);
        found.push(...pairs.map((pair) => `${name.split('/')[1]} ${part} ${describeDifference(pair)}`));
      }
    }
    assert.deepEqual(unexplained(found, betweenTwins).open, []);
    const parts = [...counts].map(([part, count]) => `${count} ${part}`).join(', ');
    stage.say(`${portraits.size} pairs of pods were compared in ${parts}; ${found.length} differ, with reasons`);
  });

  test('the Go kubelet comes back: no container restarts, be it of its own make or of ours', async () => {
    const { watch, look } = stage;
    const [was, pods, since, marks] = [await sceneOf(look, isKept), watch.now(), watch.length, await stage.marks()];
    await stage.handTo('kubelet');
    await stage.probedAgain(marks);
    await stage.settled(pods.size);
    const now = await sceneOf(look, isKept);
    assert.deepEqual(unexplained(changesBetween(was, now), onTakeOver).open, []);
    await leave(second, filesLeft);
    const flipped = watch.versions(undefined, since).filter(({ object }) => {
      const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
      return isKept(nameOf(object)) && ready?.status === 'False';
    });
    const unready = new Set(flipped.map(({ object }) => nameOf(object))).size;
    stage.say(`as before: ${countsOf(now)}; its own doing: ${unready} pods were not ready for a while`);
  });
});
