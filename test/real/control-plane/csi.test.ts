import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CSINode, Node } from '../../../src/gen/kubernetes/types.ts';
import { until } from '../../support/real-wait.ts';
import { attachmentMetadata } from './csi/attacher.ts';
import { CsiWorld } from './csi/csi-world.ts';
import { topologyKey } from './csi/hostpath-driver.ts';
import { mebibyte } from './csi/objects.ts';
import { openAgentPages, type AgentPages } from './metrics/agent-pages.ts';

let world: CsiWorld;
let pages: AgentPages;
before(async () => {
  world = await CsiWorld.start();
  pages = await openAgentPages(world.plane, await world.node.ready());
});
after(() => world?.destroy());

const getNode = async (): Promise<Node> =>
  (await world.view.get<Node>(`/api/v1/nodes/${world.node.name}`)) ?? { metadata: {} };
const podFolder = (uid: string): string => join(world.node.names.kubeletRoot, 'pods', uid);

describe('volumes of a CSI driver', { concurrency: true }, () => {
  test('the cluster learns of the drivers, by which name they know the node, and from where it reaches volumes', async () => {
    const names = world.drivers.map(({ hostpath }) => hostpath.name);
    const { spec } = await until('both drivers are on record', async () => {
      const found = await world.view.get<CSINode>(`/apis/storage.k8s.io/v1/csinodes/${world.node.name}`);
      return found?.spec.drivers.length === 2 && found;
    });
    const byName = spec.drivers.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    assert.deepEqual(
      byName.map(({ name, nodeID, topologyKeys }) => ({ name, nodeID, topologyKeys })),
      names.map((name) => ({ name, nodeID: world.node.name, topologyKeys: [topologyKey] })),
    );
    const { metadata } = await getNode();
    assert.equal(metadata?.labels?.[topologyKey], world.node.name);
    const ids = JSON.parse(metadata?.annotations?.['csi.volume.kubernetes.io/nodeid'] ?? '{}') as object;
    assert.deepEqual(ids, Object.fromEntries(names.map((name) => [name, world.node.name])));
  });

  test('attached, staged once, published to each pod, detached at last; data stays, and belongs to the group', async () => {
    const here = await world.view.namespace('kept');
    const driver = world.attached.hostpath;
    const claim = await world.claim(here, 'data', driver);
    const owned = { securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 } };
    const one = await world.runPod(here, { name: 'one', claims: { '/data': 'data' }, spec: owned });
    await world.inPod(here, 'one', 'echo words > /data/file');
    assert.equal(await world.inPod(here, 'one', 'stat -c "%g" /data /data/file | xargs'), '2000 2000');
    assert.equal(readFileSync(join(driver.dataOf(claim.handle), 'file'), 'utf8'), 'words\n');
    await world.runPod(here, { name: 'two', claims: { '/here': 'data' }, spec: owned });
    assert.equal(await world.inPod(here, 'two', 'cat /here/file'), 'words');
    assert.deepEqual(nodeCalls(driver.calls(claim.handle)), [
      'NodeStageVolume',
      'NodePublishVolume',
      'NodePublishVolume',
    ]);
    const [staged] = driver.requests('NodeStageVolume', claim.handle);
    assert.deepEqual(staged?.['publish_context'], attachmentMetadata);
    assert.deepEqual(staged?.['volume_context'], { made: 'by-hand' });

    const data = JSON.parse(
      readFileSync(join(podFolder(one), 'volumes/kubernetes.io~csi', claim.volumeName, 'vol_data.json'), 'utf8'),
    ) as Record<string, string>;
    const [attachment] = await world.attacher.attachmentsOf(claim.volumeName);
    assert.equal(data['attachmentID'], attachment?.metadata.name);
    assert.equal(data['volumeHandle'], claim.handle);
    const attachable = `kubernetes.io/csi/${driver.name}^${claim.handle}`;
    await until('the node tells that it uses the volume', async () => {
      const { status } = await getNode();
      return (
        status?.volumesInUse?.includes(attachable) && status.volumesAttached?.some(({ name }) => name === attachable)
      );
    });

    await world.podsGone(here, 'one');
    assert.equal(await world.inPod(here, 'two', 'cat /here/file'), 'words');
    assert.ok(!driver.calls(claim.handle).includes('NodeUnstageVolume'), 'somebody uses it');
    await world.podsGone(here, 'two');
    const ends = ['NodeUnpublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'];
    await until('the volume is unstaged', () => driver.calls(claim.handle).at(-1) === 'NodeUnstageVolume');
    assert.deepEqual(nodeCalls(driver.calls(claim.handle)).slice(3), ends);
    await until(
      'the volume is detached',
      async () => (await world.attacher.attachmentsOf(claim.volumeName)).length === 0,
      {
        timeoutMs: 60_000,
        state: getNode,
      },
    );

    await world.runPod(here, { name: 'three', claims: { '/data': 'data' } });
    assert.equal(await world.inPod(here, 'three', 'cat /data/file'), 'words');
    await world.podsGone(here, 'three');
  });

  test('figures of a volume that its driver gives', async () => {
    const here = await world.view.namespace('figures');
    await world.claim(here, 'measured', world.plain.hostpath);
    await world.runPod(here, { name: 'user', claims: { '/data': 'measured' } });
    const figures = await until('the summary has the volume', () => summaryOf(here.name, 'data'), {
      timeoutMs: 60_000,
    });
    assert.deepEqual(figures.pvcRef, { name: 'measured', namespace: here.name });
    for (const field of ['capacityBytes', 'availableBytes', 'usedBytes', 'inodes', 'inodesFree', 'inodesUsed']) {
      assert.equal(typeof figures[field], 'number', field);
    }
    const { body } = await pages.get('/metrics');
    const labels = '{namespace="figures",persistentvolumeclaim="measured"}';
    const names = ['capacity_bytes', 'available_bytes', 'used_bytes', 'inodes', 'inodes_free', 'inodes_used'];
    for (const name of names) assert.ok(body.includes(`kubelet_volume_stats_${name}${labels} `), name);
    await world.podsGone(here, 'user');
  });

  test('a claim grows under a running pod, and before a pod comes', async () => {
    const here = await world.view.namespace('grown');
    const driver = world.plain.hostpath;
    const claim = await world.claim(here, 'data', driver);
    const isGrownTo = (storage: string) =>
      world.claimWhen(here, 'data', `has ${storage}`, ({ status }) => {
        const { capacity, conditions = [], allocatedResourceStatuses = {} } = status ?? {};
        return (
          capacity?.['storage'] === storage &&
          conditions.length === 0 &&
          Object.keys(allocatedResourceStatuses).length === 0
        );
      });
    const grown = (): number => driver.calls(claim.handle).filter((call) => call === 'NodeExpandVolume').length;
    await world.runPod(here, { name: 'user', claims: { '/data': 'data' } });
    await world.grow(here, claim, 16n * mebibyte);
    await isGrownTo('16Mi');
    assert.ok(grown() >= 1);
    const [asked] = driver.requests('NodeExpandVolume', claim.handle);
    assert.deepEqual(asked?.['capacity_range'], { required_bytes: Number(16n * mebibyte) });
    await world.podsGone(here, 'user');
    const before = grown();
    await world.grow(here, claim, 24n * mebibyte);
    await world.runPod(here, { name: 'later', claims: { '/data': 'data' } });
    await isGrownTo('24Mi');
    assert.ok(grown() > before);
    await world.podsGone(here, 'later');
  });

  test('a block volume is a device in the container', async () => {
    const here = await world.view.namespace('block');
    const driver = world.plain.hostpath;
    const claim = await world.claim(here, 'disk', driver, true);
    const uid = await world.runPod(here, { name: 'user', devices: { '/dev/disk': 'disk' } });
    await world.inPod(here, 'user', 'test -b /dev/disk && printf words | dd of=/dev/disk conv=notrunc,fsync');
    assert.equal(readFileSync(driver.dataOf(claim.handle)).subarray(0, 5).toString(), 'words');
    assert.ok(existsSync(join(podFolder(uid), 'volumeDevices/kubernetes.io~csi', claim.volumeName)));
    await world.podsGone(here, 'user');
    await world.runPod(here, { name: 'again', devices: { '/dev/other': 'disk' } });
    assert.equal(await world.inPod(here, 'again', 'head -c 5 /dev/other'), 'words');
    await world.podsGone(here, 'again');
    // Not before: an agent that has to unstage a volume that is no more could not.
    await until('the volume is unstaged', () => driver.calls(claim.handle).at(-1) === 'NodeUnstageVolume');
    await driver.controller.deleteVolume(claim.handle);
    await until('no device holds on to the file', () => driver.devices().length === 0, {
      state: () => driver.devices(),
    });
  });

  test('a block volume whose driver wants it attached', async () => {
    const here = await world.view.namespace('attached-block');
    const driver = world.attached.hostpath;
    const claim = await world.claim(here, 'disk', driver, true);
    await world.runPod(here, { name: 'user', devices: { '/dev/disk': 'disk' } });
    await world.inPod(here, 'user', 'test -b /dev/disk');
    await world.podsGone(here, 'user');
    await until(
      'the volume is detached',
      async () => (await world.attacher.attachmentsOf(claim.volumeName)).length === 0,
      {
        timeoutMs: 60_000,
        state: getNode,
      },
    );
  });

  test('an inline volume comes and goes with its pod, which the driver gets to know', async () => {
    const here = await world.view.namespace('inline');
    const driver = world.plain.hostpath;
    await world.runPod(here, { name: 'user', inline: { '/scratch': driver.name } });
    await world.inPod(here, 'user', 'echo words > /scratch/file');
    const published = driver
      .requests('NodePublishVolume')
      .find((request) => podNameOf(request) === 'user' && namespaceOf(request) === 'inline');
    assert.ok(published);
    const id = String(published['volume_id']);
    assert.match(id, /^csi-[0-9a-f]{64}$/);
    assert.equal(contextOf(published)['csi.storage.k8s.io/ephemeral'], 'true');
    assert.equal(contextOf(published)['csi.storage.k8s.io/serviceAccount.name'], 'default');
    assert.equal(readFileSync(join(driver.dataOf(id), 'file'), 'utf8'), 'words\n');
    await world.podsGone(here, 'user');
    assert.deepEqual(nodeCalls(driver.calls(id)), ['NodePublishVolume', 'NodeUnpublishVolume'], 'never staged');
    assert.ok(!existsSync(driver.dataOf(id)));
  });

  test('an inline volume of a driver that has none is refused, with words, and the pod can go', async () => {
    const here = await world.view.namespace('refused');
    await world.makePod(here, { name: 'user', inline: { '/scratch': world.attached.hostpath.name } });
    const event = await until(
      'the pod is told why',
      async () => (await here.eventsOf('user')).find(({ reason }) => reason === 'FailedMount'),
      {
        timeoutMs: 60_000,
      },
    );
    assert.match(event.message ?? '', /volume mode "Ephemeral" not supported by driver attached\.csi\.example\.com/);
    await world.podsGone(here, 'user');
  });
});

test('nothing is left', async () => {
  await until('no mount and no file is left', () => world.mounts().length === 0 && world.stagingFiles().length === 0, {
    state: () => [world.mounts(), world.stagingFiles()],
  });
  for (const { hostpath } of world.drivers) {
    const used = (await hostpath.volumes()).filter(
      ({ Attached, Staged, Published }) => Attached || (Staged ?? []).length > 0 || (Published ?? []).length > 0,
    );
    assert.deepEqual(used, []);
  }
  await until('no pod has files', () => readdirSync(podFolder('')).length === 0, {
    state: () => readdirSync(podFolder('')),
  });
  assert.deepEqual(world.plane.auditForbidden(), []);
});

const nodeCalls = (calls: readonly string[]): readonly string[] =>
  calls.filter((call) => /^Node(Stage|Publish|Unpublish|Unstage)/.test(call));
const contextOf = (request: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  (request['volume_context'] ?? {}) as Readonly<Record<string, string>>;
const podNameOf = (request: Readonly<Record<string, unknown>>): string | undefined =>
  contextOf(request)['csi.storage.k8s.io/pod.name'];
const namespaceOf = (request: Readonly<Record<string, unknown>>): string | undefined =>
  contextOf(request)['csi.storage.k8s.io/pod.namespace'];

type Figures = Readonly<Record<string, unknown>> & { readonly name: string; readonly pvcRef?: object };

/** Of the one pod of a namespace. */
async function summaryOf(namespace: string, volume: string): Promise<Figures | undefined> {
  const { body } = await pages.get('/stats/summary');
  const { pods } = JSON.parse(body) as {
    readonly pods: readonly { readonly podRef: { readonly namespace: string }; readonly volume?: readonly Figures[] }[];
  };
  const found = pods.find(({ podRef }) => podRef.namespace === namespace)?.volume?.find(({ name }) => name === volume);
  return found?.['capacityBytes'] === undefined ? undefined : found;
}
