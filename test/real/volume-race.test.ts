import assert from 'node:assert/strict';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { RealNode } from '../support/real-node.ts';
import { idlePod, podOf, podWhen, saidBy } from '../support/real-pods.ts';
import { clock, until } from '../support/real-wait.ts';
import { Bait, isBelow, placeOf, type Place } from '../support/volume-race/bait.ts';
import { NaiveRounds, Rounds } from '../support/volume-race/rounds.ts';
import { buildSwapper, looking, SwappingPods } from '../support/volume-race/swapping-pods.ts';

/**
 * A container swaps folders, files and links of a volume as fast as it can, while parts of the volume are bound and shown
 * to other containers, its files change hands and are removed. Nobody ever gets out of the volume.
 *
 *   TUBELET_RACE_ROUNDS=10000 npm test -- volume-race     as many rounds as fit into five minutes
 */
const rounds = Number(process.env['TUBELET_RACE_ROUNDS'] ?? 2_000);
/** Of all rounds: containers with parts of a volume that are really started, and pods that are really removed. */
const podsOfStarts = 4;
const startsPerPod = 13;
const removals = 3;
/** The control needs a few on a machine that is not busy. */
const controlRounds = 20_000;
const bulk = Math.max(2, rounds - podsOfStarts * startsPerPod - removals);
const partsShown = ['a/d', 'a/f', 'b/d', 'b/f'];

let node: RealNode;
let swapping: SwappingPods;
let noProgram: string | undefined;
before(async () => {
  node = await RealNode.start('volume-race');
  const tools = join(node.path, 'tools');
  mkdirSync(tools);
  noProgram = buildSwapper(tools);
  swapping = new SwappingPods(node, tools);
  await node.workingAgent();
});
after(() => node?.destroy());

const say = (text: string): void => void process.stdout.write(`volume-race: ${text}\n`);
const skipped = (context: TestContext): boolean => {
  if (noProgram !== undefined) context.skip(noProgram);
  return noProgram !== undefined;
};
const newFolder = (name: string): string => {
  const path = join(node.path, name);
  mkdirSync(path);
  return realpathSync(path);
};
const newBait = (name: string): Bait => new Bait(join(newFolder(name), 'bait'));
const uidOf = (pod: Pod | undefined): string => pod?.metadata?.uid ?? '';
const podFolder = (uid: string): string => join(realpathSync(node.names.kubeletRoot), 'pods', uid);
const emptyDirOf = (pod: Pod | undefined): string => join(podFolder(uidOf(pod)), 'volumes/kubernetes.io~empty-dir/v');

/** Where links lead besides to the bait, as seen from the volume and as seen from the node. */
const links = ['/', '/etc', '/proc/self/root', '../..', '../sibling', '../../..'];

async function inBulk(volume: string, bait: Bait, name: string, count: number): Promise<void> {
  const race = new Rounds({ volume, bait, folder: newFolder(`bulk-${name}`) });
  const [began, swapsBefore] = [clock.monotonic(), swapping.swaps(name)];
  try {
    await race.run(count);
  } finally {
    await race.close();
  }
  const swaps = swapping.swaps(name) - swapsBefore;
  say(`${count} rounds on ${name} in ${Math.round(clock.monotonic() - began)} ms: ${race.tally.text}; ${swaps} swaps`);
  // Both ends of the race were seen, or it was none.
  assert.ok(race.tally.of('bound') > count / 100, race.tally.text);
  assert.ok(race.tally.of('refused (denied)') > count / 100, race.tally.text);
  assert.ok(race.tally.of('removed') > 0 && swaps > count, race.tally.text);
}

/** A part that is refused is tried again, until the real one is met: that takes its time. */
const ended = (name: string): Promise<Pod> =>
  podWhen(node, name, 'has ended', ({ status }) => status?.phase === 'Succeeded', 180_000);

/** Asserts of a pod that has ended that each of its containers got a part of the volume and nothing else. */
function requireInside(pod: Pod, volume: Place): number {
  const names = (pod.spec?.containers ?? []).map(({ name }) => name);
  for (const name of names) {
    const [place = '', ...seen] = saidBy(node, pod, name);
    const [device = '', root = ''] = place.split(' ');
    assert.ok(isBelow({ device, root }, volume), `${name} got ${place}, which is not in ${JSON.stringify(volume)}`);
    assert.ok(!seen.includes('outside'), `${name} saw ${seen.join(' ')}`);
  }
  return names.length;
}

/** Waits for the end of pods whose containers look at parts of a volume, and removes them. */
async function requireStarts(pods: readonly string[], volumeOf: (pod: Pod) => string): Promise<void> {
  const began = clock.monotonic();
  let started = 0;
  for (const name of pods) {
    const pod = await ended(name);
    started += requireInside(pod, placeOf(volumeOf(pod)));
  }
  for (const name of pods) await node.remove(name);
  say(
    `${started} containers started with parts in ${pods.join(' and ')}, in ${Math.round(clock.monotonic() - began)} ms`,
  );
}

const lookers = (): object[] =>
  Array.from({ length: startsPerPod }, (_, index) =>
    looking(`part-${index}`, node.image, partsShown[index % partsShown.length] ?? ''),
  );

describe('a volume that a container swaps', () => {
  test('a path of the node: by the rounds of the agent, and by containers that start', async (context) => {
    if (skipped(context)) return;
    const [volume, bait] = [newFolder('host-path'), newBait('host-path-bait')];
    const untouched = bait.state();
    swapping.put({ name: 'host-path', bait, links, volume: { hostPath: { path: volume } } });
    await swapping.begun('host-path');
    const pods = Array.from({ length: podsOfStarts / 2 }, (_, index) => `starts-${index}`);
    for (const name of pods) {
      const volumes = [{ name: 'v', hostPath: { path: volume } }];
      node.put(name, podOf(name, { restartPolicy: 'Never', containers: lookers(), volumes }));
    }
    await inBulk(volume, bait, 'host-path', Math.ceil(bulk / 2));
    await requireStarts(pods, () => volume);
    assert.deepEqual(bait.state(), untouched);
    await node.remove('host-path');
  });

  test('a folder of the pod: by the rounds of the agent, and by containers of that pod', async (context) => {
    if (skipped(context)) return;
    const bait = newBait('empty-dir-bait');
    const untouched = bait.state();
    const volume = { emptyDir: {} };
    swapping.put({ name: 'empty-dir', bait, links, volume });
    await swapping.begun('empty-dir');
    await inBulk(emptyDirOf(await node.pod('empty-dir')), bait, 'empty-dir', Math.floor(bulk / 2));
    await node.remove('empty-dir');
    const pods = Array.from({ length: podsOfStarts / 2 }, (_, index) => `own-starts-${index}`);
    for (const name of pods) {
      const spec = { restartPolicy: 'Never', terminationGracePeriodSeconds: 2, containers: lookers() };
      node.put(name, podOf(name, { ...spec, ...swapping.parts({ name, bait, links, volume }) }));
    }
    await requireStarts(pods, emptyDirOf);
    assert.deepEqual(bait.state(), untouched);
  });
});

test('a pod whose folder another one swaps is removed, and nothing but that', async (context) => {
  if (skipped(context)) return;
  const bait = newBait('removal-bait');
  const untouched = bait.state();
  const numbers = Array.from({ length: removals }, (_, index) => index);
  const folders: string[] = [];
  for (const index of numbers) {
    node.put(`victim-${index}`, victimPod(`victim-${index}`));
    const pod = await node.readyPod(`victim-${index}`);
    folders.push(podFolder(uidOf(pod)));
    const volume = { hostPath: { path: emptyDirOf(pod) } };
    // No link leads anywhere but to the bait: this is the one race in which more could be lost.
    swapping.put({ name: `attacker-${index}`, bait, links: [], volume });
  }
  for (const index of numbers) await swapping.begun(`attacker-${index}`);
  const swaps = numbers.map((index) => swapping.swaps(`attacker-${index}`));
  for (const index of numbers) await node.remove(`victim-${index}`);
  for (const index of numbers) {
    await until(`attacker ${index} goes on`, () => swapping.swaps(`attacker-${index}`) > (swaps[index] ?? 0));
  }
  const early = folders.filter((path) => !existsSync(path)).length;
  for (const index of numbers) await node.remove(`attacker-${index}`);
  await until('no folder is left', () => folders.every((path) => !existsSync(path)), { state: () => folders });
  say(`${removals} pods removed while their folders were swapped, ${early} of them before that had an end`);
  assert.deepEqual(bait.state(), untouched);
});

const victimPod = (name: string): object => {
  const pod = idlePod(name, node.image) as { readonly spec: { readonly containers: readonly object[] } };
  const [main] = pod.spec.containers;
  const volumeMounts = [
    { name: 'v', mountPath: '/v' },
    { name: 'v', mountPath: '/part', subPath: 'part' },
  ];
  return {
    ...pod,
    spec: { ...pod.spec, containers: [{ ...main, volumeMounts }], volumes: [{ name: 'v', emptyDir: {} }] },
  };
};

test('whoever looks first and acts by path afterwards does get out: the race is one', async (context) => {
  if (skipped(context)) return;
  const volume = newFolder('control');
  const bait = newBait('control-bait');
  swapping.put({ name: 'control', bait, links: [], volume: { hostPath: { path: volume } } });
  await swapping.begun('control');
  const naive = new NaiveRounds({ volume, bait, folder: newFolder('naive') });
  for (const what of ['bind', 'changeOwner', 'remove'] as const) {
    const round = await naive.untilOutside(what, controlRounds);
    say(`control: the naive ${what} got out in round ${round ?? 'none'}`);
    assert.notEqual(round, undefined, `${what} was never outside`);
  }
  await node.remove('control');
});
