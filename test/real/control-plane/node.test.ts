import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CSINode, Lease, Node, Pod } from '../../../src/gen/kubernetes/types.ts';
import { loadGolden } from '../../../src/testing/golden.ts';
import { until } from '../../support/real-wait.ts';
import { ClusterView, type Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { goldenNode, shapeOf, unitsOf, type Texts } from './golden-shape.ts';
import { joinNode, type JoinedNode } from './join-node.ts';

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
let self: Node;
before(async () => {
  plane = await startControlPlane();
  node = await joinNode(plane);
  view = new ClusterView(plane);
  self = await node.ready();
});
after(async () => {
  view?.close();
  await node?.destroy();
  await plane?.stop();
});

const golden = goldenNode<Node>('node.json');
const namesOf = (of: Node): Texts => [
  [new RegExp(`(?<=")${of.metadata?.name}(?=")`, 'g'), '{{node}}'],
  [of.metadata?.uid ?? '', '{{nodeUid}}'],
];

describe('the objects of a node', () => {
  test('the Node reads as one of a Go kubelet', async () => {
    const bare = (object: Node): unknown => {
      const { addresses, conditions, capacity, allocatable, ...others } = object.status ?? {};
      const amounts = { capacity: unitsOf(capacity), allocatable: unitsOf(allocatable) };
      const shape = {
        ...object,
        status: { addresses, conditions, ...amounts, others: Object.keys(others).toSorted() },
      };
      return shapeOf(shape, [...namesOf(object), [/(?<=")\d+\.\d+\.\d+\.\d+(?=")/g, '{{address}}']]);
    };
    assert.deepEqual(bare(self), bare(golden));
    const { images = [], nodeInfo, daemonEndpoints } = self.status ?? {};
    assert.deepEqual(Object.keys(nodeInfo ?? {}), Object.keys(golden.status?.nodeInfo ?? {}));
    assert.match(nodeInfo?.containerRuntimeVersion ?? '', /^containerd:\/\/\d/);
    assert.match(nodeInfo?.kubeletVersion ?? '', /^v1\.34\./);
    assert.equal(nodeInfo?.kubeProxyVersion, '');
    assert.deepEqual(Object.keys(daemonEndpoints?.kubeletEndpoint ?? {}), ['Port']);
    for (const image of images) assert.deepEqual(Object.keys(image), ['names', 'sizeBytes']);
    const sizes = images.map(({ sizeBytes }) => Number(sizeBytes));
    assert.deepEqual(
      sizes,
      sizes.toSorted((one, other) => other - one),
    );
    assert.ok(images.some(({ names }) => names?.includes(node.image)));
  });

  test('kubectl shows it', async () => {
    const [heading, row] = (await plane.ask('get', 'nodes')).split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(heading, ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION']);
    assert.deepEqual(row?.slice(0, 3), [node.name, 'Ready', '<none>']);
    assert.match(row?.[4] ?? '', /^v1\.34\./);
  });

  test('the Lease is like that of a Go kubelet, and is renewed', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node.name}`;
    const recorded = goldenNode<Lease>('lease.json');
    const lease = await until('the lease has an owner', async () => {
      const now = await view.get<Lease>(path);
      return now?.metadata?.ownerReferences !== undefined && now;
    });
    assert.deepEqual(shapeOf(lease, namesOf(self)), shapeOf(recorded, namesOf(golden)));
    assert.match(lease.spec?.renewTime ?? '', /\.\d{6}Z$/);
    await until('the lease is renewed', async () => {
      const now = await view.get<Lease>(path);
      return now?.spec?.renewTime !== lease.spec?.renewTime;
    });
  });

  test('the CSINode is like that of a Go kubelet', async () => {
    const recorded = goldenNode<CSINode>('csinode.json');
    const own = await view.get<CSINode>(`/apis/storage.k8s.io/v1/csinodes/${node.name}`);
    assert.deepEqual(shapeOf(own, namesOf(self)), shapeOf(recorded, namesOf(golden)));
  });

  test('its events are those of a Go kubelet, and kubectl describe finds them', async () => {
    const known = new Set(
      goldenNode<readonly Record<string, string>[]>('node-events.json').map(({ type, reason, message }) =>
        [type, reason, message?.replace('Node vm ', `Node ${node.name} `)].join('  '),
      ),
    );
    const rows = await until('the node is reported ready', async () => {
      const [, table = ''] = (await plane.ask('describe', 'node', node.name)).split('\nEvents:');
      const events = table.split('\n').map((line) => line.trim().split(/ {2,}/));
      const own = events.filter(([, , , from]) => from === 'kubelet');
      return own.some(([, reason]) => reason === 'NodeReady') && own;
    });
    for (const [type, reason, , , message] of rows) {
      assert.ok(known.has([type, reason, message].join('  ')), `${type} ${reason} ${message}`);
    }
    const reasons = new Set(rows.map(([, reason]) => reason));
    for (const reason of ['Starting', 'NodeAllocatableEnforced', 'NodeHasSufficientMemory', 'NodeReady']) {
      assert.ok(reasons.has(reason), reason);
    }
  });
});

describe('static pods', () => {
  let here: Namespace;
  before(async () => {
    here = await view.namespace('static');
  });

  const manifest = (name: string): Pod => {
    const text = JSON.stringify(loadGolden(name).manifest);
    return JSON.parse(text.replaceAll('{{namespace}}', 'static').replaceAll('busybox:1.36', node.image)) as Pod;
  };
  const file = (name: string): string => join(node.names.manifests, `${name}.json`);
  const put = (name: string, pod: object): void => {
    const hidden = join(node.names.manifests, `.${name}`);
    writeFileSync(hidden, JSON.stringify(pod));
    renameSync(hidden, file(name));
  };
  const containerOf = (pod: Pod): string => pod.status?.containerStatuses?.[0]?.containerID ?? '';
  const hashOf = (pod: Pod): string => pod.metadata?.annotations?.['kubernetes.io/config.hash'] ?? '';

  for (const name of ['static-plain', 'static-critical']) {
    test(`${name} is mirrored as by a Go kubelet`, async () => {
      put(name, manifest(name));
      const mirror = await here.podReady(`${name}-${node.name}`);
      const { mirror: recorded } = loadGolden(name);
      const { hostIP = '', podIP = '' } = mirror.status ?? {};
      const ours: Texts = [
        ['"namespace":"static"', '"namespace":"{{namespace}}"'],
        [hashOf(mirror), '{{podUid}}'],
        [`${name}-${node.name}`, `${name}-vm`],
        ...namesOf(self),
        [`"${hostIP}"`, '"{{hostIP}}"'],
        [`"${podIP}"`, '"{{podIP}}"'],
        [containerOf(mirror), 'containerd://{{id1}}'],
        [/sha256:[0-9a-f]{64}/g, 'sha256:{{digest}}'],
        [node.image, 'busybox:1.36'],
      ];
      const theirs: Texts = [
        [golden.metadata?.uid ?? '', '{{nodeUid}}'],
        ['docker.io/library/busybox', 'busybox'],
      ];
      assert.deepEqual(shapeOf(mirror, ours), shapeOf(recorded, theirs));
    });
  }

  test('a mirror that is deleted comes back; what it mirrors has not noticed', async () => {
    const name = `static-plain-${node.name}`;
    const first = await here.podReady(name);
    // Not to be waited for: kubectl may take the new one for the old one that is still there.
    await here.kubectl('delete', 'pod', name, '--wait=false');
    const second = await here.podWhen(name, 'is another', ({ metadata }) => metadata?.uid !== first.metadata?.uid);
    assert.equal(hashOf(second), hashOf(first));
    assert.equal(containerOf(await here.podReady(name)), containerOf(first));
  });

  test('a changed manifest replaces pod and mirror', async () => {
    const name = `static-plain-${node.name}`;
    const first = await here.podReady(name);
    const changed = manifest('static-plain');
    put('static-plain', { ...changed, metadata: { ...changed.metadata, labels: { tier: 'other' } } });
    const second = await here.podWhen(name, 'is another', ({ metadata }) => metadata?.labels?.['tier'] === 'other');
    assert.notEqual(hashOf(second), hashOf(first));
    assert.notEqual(second.metadata?.uid, first.metadata?.uid);
    assert.notEqual(containerOf(await here.podReady(name)), containerOf(first));
  });

  test('a removed manifest takes pod and mirror along', async () => {
    for (const name of ['static-plain', 'static-critical']) rmSync(file(name));
    for (const name of ['static-plain', 'static-critical']) await here.podGone(`${name}-${node.name}`);
    assert.deepEqual(plane.auditForbidden(`system:node:${node.name}`), []);
  });
});
