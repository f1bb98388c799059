import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec, Volume } from '../gen/kubernetes/types.ts';
import { parseYamlDocuments } from '../base/yaml.ts';
import { decodeObject } from './decode-object.ts';
import { defaultPod } from './pod-defaults.ts';
import { apiReference, staticPodRefusal, toStaticPod, type StaticPodOrigin } from './static-pod.ts';

const origin: StaticPodOrigin = {
  nodeName: 'Node-A',
  source: 'file',
  origin: '/m/web.yaml',
  seen: '2025-01-01T00:00:00Z',
};
const web: Pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] } };

test('a manifest becomes a pod of this node', () => {
  const pod = toStaticPod(web, origin);
  const uid = pod.metadata?.uid ?? '';
  assert.match(uid, /^[0-9a-f]{32}$/);
  assert.deepEqual(pod, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: 'web-node-a',
      namespace: 'default',
      uid,
      annotations: {
        'kubernetes.io/config.hash': uid,
        'kubernetes.io/config.source': 'file',
        'kubernetes.io/config.seen': '2025-01-01T00:00:00Z',
      },
    },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      nodeName: 'Node-A',
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    },
    status: { phase: 'Pending' },
  });
});

test('a uid that is given stays; http adds no toleration', () => {
  const pod = toStaticPod(
    { ...web, metadata: { name: 'web', uid: 'mine', namespace: 'ns' } },
    { ...origin, source: 'http' },
  );
  assert.equal(pod.metadata?.uid, 'mine');
  assert.equal(pod.metadata.annotations?.['kubernetes.io/config.hash'], 'mine');
  assert.equal(pod.metadata.namespace, 'ns');
  assert.equal(pod.spec?.tolerations, undefined);
});

test('the toleration stands once, and for ever', () => {
  const tolerations = [
    { key: 'a', operator: 'Exists' },
    { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
  ];
  const pod = toStaticPod({ ...web, spec: { containers: [], tolerations } }, origin);
  assert.deepEqual(pod.spec?.tolerations, [tolerations[0], { operator: 'Exists', effect: 'NoExecute' }]);
});

test('the uid depends on content, node and origin, and on nothing else', () => {
  const uidOf = (text: string, place: Partial<StaticPodOrigin> = {}): string | undefined => {
    const [document] = parseYamlDocuments(text);
    const { object } = decodeObject('Pod', document!.value, () => 1);
    return toStaticPod(defaultPod(object), { ...origin, ...place }).metadata?.uid;
  };
  const text =
    '{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {x: "1", y: "2"}}, spec: {containers: [{name: c, image: i}]}}';
  const reordered = `# a comment
spec:
  containers:
  - image: i
    name: c
  restartPolicy: Always  # the default
metadata: {labels: {y: "2", x: "1"}, name: a}
kind: Pod
apiVersion: v1
`;
  const uid = uidOf(text);
  assert.equal(uidOf(reordered), uid);
  assert.equal(uidOf(text, { seen: 'later' }), uid);
  assert.notEqual(uidOf(text.replace('image: i', 'image: j')), uid);
  assert.notEqual(uidOf(text, { origin: '/m/other.yaml' }), uid);
  assert.notEqual(uidOf(text, { nodeName: 'node-b' }), uid);
  assert.equal(
    uidOf(text.replace('labels:', 'annotations: {kubernetes.io/config.seen: x}, labels:')),
    uidOf(text.replace('labels:', 'annotations: {}, labels:')),
  );
});

test('a manifest copied from a mirror pod is no mirror pod', () => {
  const copied = { name: 'web', annotations: { 'kubernetes.io/config.mirror': 'old', own: 'x' } };
  const { annotations } = toStaticPod({ ...web, metadata: copied }, origin).metadata ?? {};
  assert.equal(annotations?.['kubernetes.io/config.mirror'], undefined);
  assert.equal(annotations?.['own'], 'x');
});

test('priorities of the system classes are known, others are left to the admission', () => {
  const of = (spec: Partial<PodSpec>): unknown =>
    toStaticPod({ ...web, spec: { containers: [], ...spec } }, origin).spec?.priority;
  assert.equal(of({ priorityClassName: 'system-node-critical' }), 2_000_001_000);
  assert.equal(of({ priorityClassName: 'system-cluster-critical' }), 2_000_000_000);
  assert.equal(of({ priorityClassName: 'own' }), undefined);
  assert.equal(of({}), undefined);
  assert.equal(of({ priority: 5 }), 5);
});

const volume = (source: Omit<Volume, 'name'>): Partial<PodSpec> => ({ volumes: [{ name: 'v', ...source }] });
const references: readonly (readonly [Partial<PodSpec>, string | undefined])[] = [
  [{}, undefined],
  [{ serviceAccountName: 'a' }, 'serviceaccounts'],
  [{ imagePullSecrets: [{ name: 's' }] }, 'secrets'],
  [
    { initContainers: [{ name: 'c', env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }] },
    'secrets',
  ],
  [{ containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 's' } }] }] }, 'configmaps'],
  [{ resourceClaims: [{ name: 'c' }] }, 'resourceclaims'],
  [volume({ secret: { secretName: 's' } }), 'secrets'],
  [volume({ secret: {} }), 'secrets (via secret volumes)'],
  [volume({ configMap: { name: 's' } }), 'configmaps'],
  [volume({ configMap: {} }), 'configmaps (via configmap volumes)'],
  [volume({ csi: { driver: 'd' } }), 'csidrivers (via CSI volumes)'],
  [volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }), 'secrets'],
  [volume({ glusterfs: { endpoints: 'e', path: 'p' } }), 'endpoints (via glusterFS volumes)'],
  [volume({ persistentVolumeClaim: { claimName: 'c' } }), 'persistentvolumeclaims'],
  [volume({ ephemeral: {} }), 'persistentvolumeclaims (via ephemeral volumes)'],
  [volume({ azureFile: { secretName: '', shareName: 's' } }), 'secrets (via azureFile volumes)'],
  [volume({ projected: { sources: [{ configMap: {} }] } }), 'configmaps (via projected volumes)'],
  [
    volume({ projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }),
    'serviceaccounts (via projected volumes)',
  ],
  [volume({ projected: { sources: [{ clusterTrustBundle: { path: 'p' } }] } }), 'clustertrustbundles'],
  [volume({ projected: { sources: [{ podCertificate: { keyType: 'k', signerName: 's' } }] } }), 'podcertificates'],
  [volume({ projected: { sources: [{ downwardAPI: {} }] } }), undefined],
  [volume({ hostPath: { path: '/' } }), undefined],
  [volume({ iscsi: { iqn: 'i', lun: 0, targetPortal: 'p', secretRef: { name: 's' } } }), 'secrets'],
];
test('references to API objects', () => {
  for (const [spec, expected] of references) {
    const pod: Pod = { spec: { containers: [], ...spec } };
    assert.equal(apiReference(pod), expected, JSON.stringify(spec));
    assert.equal(
      staticPodRefusal(pod, { preventApiReferences: true }),
      expected && `static pods may not reference ${expected}`,
    );
  }
});

test('with objects of the folder, only what the agent reads itself is let through', () => {
  const folder = { preventApiReferences: true, allowFolderObjects: true };
  const key = { name: 's', key: 'k' };
  const free: readonly Partial<PodSpec>[] = [
    { imagePullSecrets: [{ name: 's' }] },
    { initContainers: [{ name: 'c', env: [{ name: 'A', valueFrom: { secretKeyRef: key } }] }] },
    { containers: [{ name: 'c', env: [{ name: 'A', valueFrom: { configMapKeyRef: key } }] }] },
    { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 's' } }, { secretRef: { name: 's' } }] }] },
    volume({ secret: { secretName: 's' } }),
    volume({ configMap: { name: 's' } }),
    volume({ projected: { sources: [{ configMap: { name: 's' } }, { secret: { name: 's' } }] } }),
  ];
  const refused: readonly (readonly [Partial<PodSpec>, string])[] = [
    [{ serviceAccountName: 'a', ...volume({ secret: { secretName: 's' } }) }, 'serviceaccounts'],
    [volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }), 'secrets'],
    [volume({ iscsi: { iqn: 'i', lun: 0, targetPortal: 'p', secretRef: { name: 's' } } }), 'secrets'],
    [volume({ azureFile: { secretName: '', shareName: 's' } }), 'secrets (via azureFile volumes)'],
    [
      volume({ projected: { sources: [{ secret: { name: 's' } }, { serviceAccountToken: { path: 'p' } }] } }),
      'serviceaccounts (via projected volumes)',
    ],
    [{ resourceClaims: [{ name: 'c' }] }, 'resourceclaims'],
    [volume({ persistentVolumeClaim: { claimName: 'c' } }), 'persistentvolumeclaims'],
  ];
  const refusal = (spec: Partial<PodSpec>): string | undefined =>
    staticPodRefusal({ spec: { containers: [], ...spec } }, folder);
  for (const spec of free) assert.equal(refusal(spec), undefined, JSON.stringify(spec));
  for (const [spec, word] of refused) assert.equal(refusal(spec), `static pods may not reference ${word}`);
});

test('with the gate off, only what cannot work is refused', () => {
  const gateOff = { preventApiReferences: false };
  assert.equal(staticPodRefusal({ spec: { containers: [], serviceAccountName: 'a' } }, gateOff), undefined);
  assert.equal(
    staticPodRefusal({ spec: { containers: [], resourceClaims: [{ name: 'c' }] } }, gateOff),
    'static pods may not reference resourceclaims',
  );
});
