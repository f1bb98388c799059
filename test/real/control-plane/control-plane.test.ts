import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { CertificateSigningRequest, Node } from '../../../src/gen/kubernetes/types.ts';
import { until } from '../../support/real-wait.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { httpsGet } from './https-get.ts';
import { processesOf } from './processes-of.ts';

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ signingDuration: '30m' });
});
after(() => plane?.stop());

const nodeObject = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } } });

const configMap = (name: string): string => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('a control plane', () => {
  test('answers, and says which release it is', async () => {
    const ready = await httpsGet(`${plane.url}/readyz`, plane.authority.pem);
    assert.deepEqual(ready, { status: 200, body: 'ok' });
    const namespaces = (await plane.ask('get', 'namespaces', '--output=name')).trim().split('\n');
    assert.deepEqual(namespaces.toSorted(), [
      'namespace/default',
      'namespace/kube-node-lease',
      'namespace/kube-public',
      'namespace/kube-system',
    ]);
    const version = JSON.parse(await plane.ask('version', '--output=json')) as Record<string, { gitVersion: string }>;
    assert.match(version['serverVersion']?.gitVersion ?? '', /^v1\.34\.\d+$/);
    assert.equal(version['clientVersion']?.gitVersion, version['serverVersion']?.gitVersion);
  });

  test('lets a node be itself and nobody else', async () => {
    const kubeconfig = await plane.nodeKubeconfig('first');
    const own = await plane.kubectl(['create', '--filename=-'], nodeObject('first'), { kubeconfig });
    assert.deepEqual(own, { code: 0, stdout: 'node/first created\n', stderr: '' });
    assert.deepEqual(plane.auditForbidden('system:node:first'), []);

    const other = await plane.kubectl(['create', '--filename=-'], nodeObject('second'), { kubeconfig });
    assert.equal(other.code, 1);
    assert.match(other.stderr, /node "first" is not allowed to modify node "second"/);
    const [refused, ...more] = plane.auditForbidden('system:node:first');
    assert.deepEqual(more, []);
    assert.deepEqual([refused?.verb, refused?.user.username], ['create', 'system:node:first']);
    assert.deepEqual(plane.auditForbidden('system:node:second'), []);
  });

  test('gives a machine with a bootstrap token an identity', async () => {
    const kubeconfig = plane.bootstrapKubeconfig();
    const subject = { user: 'system:node:third', group: 'system:nodes' };
    const { request } = await plane.authority.request('third', subject);
    const csr: CertificateSigningRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'third' },
      spec: {
        request: readFileSync(request).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    };
    const asked = await plane.kubectl(['create', '--filename=-'], JSON.stringify(csr), { kubeconfig });
    assert.equal(asked.code, 0, asked.stderr);
    const certificate = await until('the certificate is issued', async () => {
      const now = JSON.parse(await plane.ask('get', 'csr', 'third', '--output=json')) as CertificateSigningRequest;
      return now.status?.certificate;
    });
    assert.match(Buffer.from(certificate, 'base64').toString(), /^-----BEGIN CERTIFICATE-----/);
    // It may ask for that, and for nothing else.
    assert.equal((await plane.kubectl(['get', 'nodes'], undefined, { kubeconfig })).code, 1);
  });

  test('runs controllers and a scheduler', async () => {
    const deployment = ['create', 'deployment', 'web', '--image=none', '--replicas=2'];
    await plane.ask(...deployment);
    const reasons = await until(
      'the scheduler has looked at both pods',
      async () => {
        const path = '{.items[*].status.conditions[?(@.type=="PodScheduled")].reason}';
        const words = (await plane.ask('get', 'pods', '--selector=app=web', `--output=jsonpath=${path}`)).split(' ');
        return words.length === 2 && words;
      },
      { state: () => plane.ask('get', 'pods', '--output=yaml') },
    );
    assert.deepEqual(reasons, ['Unschedulable', 'Unschedulable']);
    await plane.ask('delete', 'deployment', 'web');
  });
});

describe('what tests do to a control plane', () => {
  test('the API server goes away and comes back', async () => {
    await plane.stopApiServer();
    await assert.rejects(httpsGet(`${plane.url}/readyz`, plane.authority.pem), { code: 'ECONNREFUSED' });
    await plane.startApiServer();
    await plane.killApiServer();
    await plane.startApiServer();
    const node = JSON.parse(await plane.ask('get', 'node', 'first', '--output=json')) as Node;
    assert.equal(node.metadata?.name, 'first');
  });

  test('the store goes back to an older state', async () => {
    await plane.kubectl(['create', '--filename=-'], configMap('before'));
    const snapshot = await plane.snapshotEtcd();
    await plane.kubectl(['create', '--filename=-'], configMap('after'));
    await plane.restoreEtcd(snapshot);
    const names = (await plane.ask('get', 'configmaps', '--output=name')).trim().split('\n');
    assert.deepEqual(names, ['configmap/before', 'configmap/kube-root-ca.crt']);
    // Everybody works on.
    await plane.ask('create', 'namespace', 'new');
    await until('the controller manager works', () => plane.ask('get', 'serviceaccount', 'default', '--namespace=new'));
  });

  test('nothing is left of it', async () => {
    assert.equal(processesOf(plane.path).length, 4);
    await plane.stop();
    assert.deepEqual(processesOf(plane.path), []);
    assert.equal(existsSync(plane.path), false);
  });
});
