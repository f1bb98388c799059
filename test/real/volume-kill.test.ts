import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readMountInfo } from '../../src/host/index.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { RealNode } from '../support/real-node.ts';
import { idle, podOf, shell } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { clock, until } from '../support/real-wait.ts';

/** Two kills in each: while the pod is set up, and while it is taken down. */
const rounds = 10;
/** A pod's start takes about so long, its end too, and volumes a part of it. */
const longestDelayMs = 500;
const volumesMs = 60;

/** Another one each time; a failure names it, and TUBELET_SEED brings it back. */
const seed = Number(process.env['TUBELET_SEED'] ?? randomInt(1_000_000));
const random = seededRandom(seed);
const upTo = (ms: number): number => random.next() * ms;

let node: RealNode;
let agent: Program;
before(async () => {
  node = await RealNode.start('volume-kill');
  node.put('a-settings', objectOf('ConfigMap', 'settings', { data: { color: 'green', size: '2' } }));
  node.put('a-keys', objectOf('Secret', 'keys', { stringData: { pin: '1234' } }));
  agent = await node.workingAgent();
});
after(() => node?.destroy());

const objectOf = (kind: string, name: string, more: object): object => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
});

const written = ['scratch', 'memory', 'host'];
const read = ['config', 'keys', 'self', 'all'];
/** Parts of volumes, each under the name of its volume and with what is in it. */
const parts: Readonly<Record<string, string>> = {
  scratch: 'deep/er',
  memory: 'deep/er',
  host: 'deep/er',
  config: 'color',
  keys: 'pin',
};

const hostFolder = (name: string): string => join(node.path, 'data', name);
const ownName = { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] };

function volumesOf(name: string): readonly object[] {
  const sources = [{ configMap: { name: 'settings' } }, { secret: { name: 'keys' } }, { downwardAPI: ownName }];
  return [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'host', hostPath: { path: hostFolder(name), type: 'Directory' } },
    { name: 'config', configMap: { name: 'settings' } },
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'self', downwardAPI: ownName },
    { name: 'all', projected: { sources } },
  ];
}

/** A pod with volumes of many kinds and parts of them. Its container writes a line to each that it can write to. */
function podWithVolumes(name: string): object {
  mkdirSync(hostFolder(name), { recursive: true });
  writeFileSync(join(hostFolder(name), 'precious'), name);
  const places = [...written, ...written.map((volume) => `${volume}-part`)];
  const script = `for place in ${places.join(' ')}; do echo started >> /$place/starts; done; ${idle}`;
  const volumeMounts = [
    ...[...written, ...read].map((volume) => ({ name: volume, mountPath: `/${volume}` })),
    ...Object.entries(parts).map(([volume, subPath]) => ({ name: volume, mountPath: `/${volume}-part`, subPath })),
  ];
  const containers = [shell('main', node.image, script, { volumeMounts })];
  return podOf(name, { terminationGracePeriodSeconds: 5, volumes: volumesOf(name), containers });
}

const podsFolder = (): string => join(node.names.kubeletRoot, 'pods');
const uids = (): readonly string[] => (existsSync(podsFolder()) ? readdirSync(podsFolder()) : []);
/** Mounts below a folder, each with the number that the kernel gave it: one that is made anew has another. */
const mountsBelow = (folder: string): readonly string[] =>
  readMountInfo()
    .filter(({ mountPoint }) => mountPoint.startsWith(`${folder}/`))
    .map(({ id, mountPoint }) => `${id} ${mountPoint}`);

/** What a running container of a pod with volumes finds in them. */
async function contentsOf(name: string): Promise<readonly string[]> {
  const id = (await node.runtime.running(name)).get('main');
  assert.ok(id !== undefined, `${name} has no container that runs`);
  const script = [
    'for place in scratch memory host scratch-part memory-part host-part; do echo $place $(cat /$place/starts); done',
    'for file in host/precious config/color config/size keys/pin all/color all/pin all/name self/name; do',
    'echo $file $(cat /$file); done; echo color $(cat /config-part); echo pin $(cat /keys-part)',
  ];
  return (await node.runtime.exec(id, ['sh', '-c', script.join('\n')])).trim().split('\n');
}

function wantedContents(name: string, starts: number): readonly string[] {
  const places = [...written, ...written.map((volume) => `${volume}-part`)];
  const self = `${name}-node-1`;
  return [
    ...places.map((place) => `${place} ${Array(starts).fill('started').join(' ')}`),
    `host/precious ${name}`,
    'config/color green',
    'config/size 2',
    'keys/pin 1234',
    'all/color green',
    'all/pin 1234',
    `all/name ${self}`,
    `self/name ${self}`,
    'color green',
    'pin 1234',
  ];
}

async function killAndStartAnew(): Promise<void> {
  agent.kill('SIGKILL');
  await agent.ended;
  agent = await node.healthyAgent();
}

describe(`an agent that is killed in the middle of volumes, seed ${seed}`, () => {
  let steady: { readonly containers: unknown; readonly mounts: readonly string[]; readonly uid: string };

  test('beside a pod that runs on', async () => {
    node.put('steady', podWithVolumes('steady'));
    await node.readyPod('steady');
    const [uid = ''] = uids();
    steady = { uid, containers: await node.runtime.containers('steady'), mounts: mountsBelow(join(podsFolder(), uid)) };
    // In memory: its own, that of keys, of self, of all; and five parts.
    assert.equal(steady.mounts.length, 9, steady.mounts.join('\n'));
  });

  for (let round = 1; round <= rounds; round++) {
    test(`loses and leaves nothing: kills ${2 * round - 1} and ${2 * round} of ${2 * rounds}`, async () => {
      const name = `pod-${round}`;
      node.put(name, podWithVolumes(name));
      // Half of the kills aim at the volumes, which take but a small part of the time.
      if (round % 2 === 0) await until('the pod has a folder', () => uids().length > 1);
      await clock.sleep(upTo(round % 2 === 0 ? volumesMs : longestDelayMs));
      agent.kill('SIGKILL');
      await agent.ended;
      const before = await node.runtime.containers(name);
      agent = await node.healthyAgent();
      await node.readyPod(name);
      await until('its container runs', async () => (await node.runtime.running(name)).has('main'));
      const containers = await node.runtime.containers(name);
      const ran = before.filter(({ running }) => running);
      if (ran.length > 0) assert.deepEqual(containers, ran, 'what ran at the kill runs on, untouched');
      // A start that the kill cut off may have been one, and then what it wrote is still there.
      const starts = (readFileSync(join(hostFolder(name), 'starts'), 'utf8').match(/started/g) ?? []).length;
      assert.ok(starts >= 1 && starts <= containers.length, `${starts} starts, ${containers.length} containers`);
      assert.deepEqual(await contentsOf(name), wantedContents(name, starts));

      const folder = join(podsFolder(), uids().find((uid) => uid !== steady.uid) ?? 'none');
      const mounts = mountsBelow(folder).length;
      assert.equal(mounts, 9, mountsBelow(folder).join('\n'));
      rmSync(join(node.names.manifests, `${name}.json`));
      if (round % 2 === 0) await until('it is being taken down', () => mountsBelow(folder).length < mounts);
      else await clock.sleep(upTo(longestDelayMs));
      await killAndStartAnew();
      await node.runtime.gone(name);
      const left = (): readonly string[] => [...uids().filter((uid) => uid !== steady.uid), ...mountsBelow(folder)];
      await until('nothing of it is left', () => left().length === 0, { state: left });

      assert.equal(readFileSync(join(hostFolder(name), 'precious'), 'utf8'), name);
      assert.match(readFileSync(join(hostFolder(name), 'deep/er/starts'), 'utf8'), /^(started\n)+$/);
      assert.deepEqual(await node.runtime.containers('steady'), steady.containers);
      assert.deepEqual(mountsBelow(join(podsFolder(), steady.uid)), steady.mounts);
      assert.deepEqual(await contentsOf('steady'), wantedContents('steady', 1));
    });
  }

  test('in the end there is no mount', async () => {
    await node.remove('steady');
    const left = (): readonly string[] => [...uids(), ...mountsBelow(node.names.kubeletRoot)];
    await until('nothing is left', () => left().length === 0, { state: left });
    assert.equal(readFileSync(join(hostFolder('steady'), 'precious'), 'utf8'), 'steady');
  });
});
