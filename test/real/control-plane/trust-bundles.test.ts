import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { containerRoot } from '../../support/container-root.ts';
import { idle, podOf, shell } from '../../support/real-pods.ts';
import { clock, until } from '../../support/real-wait.ts';
import { CertificateAuthority } from './certificates.ts';
import { ClusterView } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type JoinedNode } from './join-node.ts';

const resource = 'certificates.k8s.io/v1beta1';
const signer = 'example.com/roots';

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
before(async () => {
  plane = await startControlPlane({
    apiServerFlags: [
      `--runtime-config=${resource}/clustertrustbundles=true`,
      '--feature-gates=ClusterTrustBundle=true,ClusterTrustBundleProjection=true',
    ],
  });
  node = await joinNode(plane, {
    config: { featureGates: { ClusterTrustBundle: true, ClusterTrustBundleProjection: true } },
  });
  view = new ClusterView(plane);
});
after(async () => {
  view?.close();
  await node?.destroy();
  await plane?.stop();
});

const bundle = (name: string, trustBundle: string, more: object = {}, labels: object = {}): object => ({
  apiVersion: resource,
  kind: 'ClusterTrustBundle',
  metadata: { name, labels },
  spec: { trustBundle, ...more },
});

describe('bundles of certificates', () => {
  test('of a real API server are in the container, and a new one within a second', async () => {
    const here = await view.namespace('trust');
    const [one, two] = [plane.authority.pem.toString(), (await anotherAuthority()).toString()];
    const sorted = [one, two].sort((a, b) => Buffer.compare(derOf(a), derOf(b))).join('');
    await here.apply(
      bundle('named', one),
      bundle(`${signer.replace('/', ':')}:one`, one, { signerName: signer }, { live: 'yes' }),
      bundle(`${signer.replace('/', ':')}:two`, two + one, { signerName: signer }),
    );
    const sources = [
      { clusterTrustBundle: { path: 'named.pem', name: 'named' } },
      { clusterTrustBundle: { path: 'all.pem', signerName: signer, labelSelector: {} } },
      { clusterTrustBundle: { path: 'live.pem', signerName: signer, labelSelector: { matchLabels: { live: 'yes' } } } },
      { clusterTrustBundle: { path: 'none.pem', name: 'nobody', optional: true } },
    ];
    const volumeMounts = [{ name: 'ca', mountPath: '/ca' }];
    const spec = {
      containers: [shell('main', node.image, idle, { volumeMounts })],
      volumes: [{ name: 'ca', projected: { sources } }],
    };
    await here.apply(podOf('web', { terminationGracePeriodSeconds: 1, ...spec }, { namespace: here.name }));
    const pod = await here.podReady('web');
    const root = join(containerRoot(pod, 'main'), 'ca');
    const read = (name: string): string => readFileSync(join(root, name), 'utf8');
    assert.deepEqual(
      ['named', 'all', 'live', 'none'].map((name) => read(`${name}.pem`)),
      [one, sorted, one, ''],
    );
    assert.equal(statSync(join(root, 'named.pem')).mode & 0o777, 0o644);

    await view.patch(`/apis/${resource}/clustertrustbundles/named`, { spec: { trustBundle: two } });
    const told = clock.monotonic();
    await until('the container reads the new bundle', () => read('named.pem') === two);
    const ms = Math.round(clock.monotonic() - told);
    process.stdout.write(`a changed ClusterTrustBundle is seen in the container after ${ms} ms\n`);

    await here.apply(bundle('nobody', one));
    await until('the one that was not there came', () => read('none.pem') === one);
    const late = { name: 'ca', projected: { sources: [{ clusterTrustBundle: { path: 'x', name: 'late' } }] } };
    await here.apply(podOf('late', { ...spec, volumes: [late] }, { namespace: here.name }));
    const why = 'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "late" not found';
    const message = `MountVolume.SetUp failed for volume "ca" : ${why}`;
    await until('it is told what is missing', async () =>
      (await here.eventsOf('late')).some((event) => event.message === message),
    );
    await here.apply(bundle('late', one));
    await here.podReady('late');
    await here.kubectl('delete', 'pod', 'web', 'late', '--grace-period=1', '--timeout=120s');
  });
});

async function anotherAuthority(): Promise<Buffer> {
  const authority = new CertificateAuthority(join(plane.path, 'another'));
  await authority.create();
  return authority.pem;
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64');
