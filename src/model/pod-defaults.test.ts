import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Container, Pod, PodSpec, Volume } from '../gen/kubernetes/types.ts';
import { defaultPullPolicy } from './container-defaults.ts';
import { decodeObject } from './decode-object.ts';
import { defaultPod, defaultPodSpec } from './pod-defaults.ts';
import { toStaticPod } from './static-pod.ts';

interface GoldenStaticPod {
  readonly manifest: Pod;
  readonly mirror: Pod;
}

for (const name of ['static-plain', 'static-critical']) {
  test(`golden ${name}: a manifest becomes the spec that the mirror pod had`, () => {
    const golden = JSON.parse(readFileSync(`test/golden/pods/${name}.json`, 'utf8')) as GoldenStaticPod;
    const { object, problems } = decodeObject('Pod', golden.manifest, () => 1);
    assert.deepEqual(problems, []);
    const origin = { nodeName: '{{node}}', source: 'file', origin: '/m/x.yaml', seen: '{{time}}' } as const;
    const { metadata, spec } = toStaticPod(defaultPod(object), origin);
    // Without a system class the number is the admission's to choose: it depends on the classes of the cluster.
    const admitted = spec?.priority === undefined ? { priority: 0, preemptionPolicy: 'PreemptLowerPriority' } : {};
    assert.deepEqual({ ...spec, ...admitted }, golden.mirror.spec);
    const { 'kubernetes.io/config.mirror': _, ...annotations } = golden.mirror.metadata?.annotations ?? {};
    const hash = metadata?.uid ?? '';
    assert.deepEqual(metadata?.annotations, { ...annotations, 'kubernetes.io/config.hash': hash });
    assert.deepEqual(metadata.labels, golden.mirror.metadata?.labels);
  });
}

test('pull policy: an image whose tag may move is always pulled', () => {
  for (const [image, policy] of [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['registry:5000/nginx', 'Always'],
    ['registry:5000/nginx:1.2', 'IfNotPresent'],
    ['nginx:1.2', 'IfNotPresent'],
    ['nginx@sha256:abc', 'IfNotPresent'],
    ['nginx:latest@sha256:abc', 'Always'],
    ['nginx:1@sha256:abc', 'IfNotPresent'],
  ] as const) {
    assert.equal(defaultPullPolicy(image), policy, image);
  }
});

function containerOf(container: Partial<Container>, spec: Partial<PodSpec> = {}): Container {
  const filled = defaultPodSpec({ ...spec, containers: [{ name: 'c', image: 'i:1', ...container }] });
  return filled.containers[0]!;
}

test('probes, hooks, ports and variables', () => {
  const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  assert.deepEqual(
    containerOf({ livenessProbe: { httpGet: { port: 80 }, periodSeconds: 0, timeoutSeconds: 5 } }).livenessProbe,
    {
      ...probe,
      timeoutSeconds: 5,
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
    },
  );
  assert.deepEqual(containerOf({ startupProbe: { grpc: { port: 9 } } }).startupProbe, {
    ...probe,
    grpc: { port: 9, service: '' },
  });
  const hook = { httpGet: { port: 'x', scheme: 'HTTPS' } };
  assert.deepEqual(containerOf({ lifecycle: { preStop: hook, postStart: { exec: {} } } }).lifecycle, {
    preStop: { httpGet: { port: 'x', scheme: 'HTTPS', path: '/' } },
    postStart: { exec: {} },
  });
  assert.deepEqual(containerOf({ ports: [{ containerPort: 1 }, { containerPort: 2, protocol: 'UDP' }] }).ports, [
    { containerPort: 1, protocol: 'TCP' },
    { containerPort: 2, protocol: 'UDP' },
  ]);
  const ports = [{ containerPort: 1 }, { containerPort: 2, hostPort: 3 }];
  assert.deepEqual(containerOf({ ports }, { hostNetwork: true }).ports, [
    { containerPort: 1, hostPort: 1, protocol: 'TCP' },
    { containerPort: 2, hostPort: 3, protocol: 'TCP' },
  ]);
  const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
  assert.deepEqual(containerOf({ env }).env?.[0]?.valueFrom?.fieldRef, {
    fieldPath: 'metadata.name',
    apiVersion: 'v1',
  });
});

test('requests follow limits, in whole thousandths', () => {
  assert.deepEqual(
    containerOf({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } }).resources,
    {
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '500m', memory: '1Gi' },
    },
  );
  assert.deepEqual(containerOf({ resources: { requests: { cpu: '100500u' } } }).resources, {
    requests: { cpu: '101m' },
  });
  assert.deepEqual(containerOf({}).resources, {});
});

test('pod-level requests come from the containers, else from the limits', () => {
  const containers = [{ name: 'a', image: 'i', resources: { requests: { cpu: '1' } } }];
  const initContainers = [
    { name: 'side', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '250m' } } },
    { name: 'init', image: 'i', resources: { requests: { cpu: '2' } } },
  ];
  const resourcesOf = (spec: PodSpec): unknown => defaultPodSpec(spec).resources;
  assert.deepEqual(resourcesOf({ containers, initContainers, resources: { limits: { cpu: '4', memory: '1Gi' } } }), {
    limits: { cpu: '4', memory: '1Gi' },
    requests: { cpu: '2250m', memory: '1Gi' },
  });
  assert.deepEqual(resourcesOf({ containers, resources: { requests: { cpu: '3' } } }), { requests: { cpu: '3' } });
  const huge = { 'hugepages-2Mi': '4Mi', cpu: '1' };
  const pod = {
    containers: [{ name: 'a', image: 'i', resources: { limits: huge } }],
    resources: { limits: { cpu: '2' } },
  };
  assert.deepEqual(resourcesOf(pod), {
    limits: { cpu: '2', 'hugepages-2Mi': '4Mi' },
    requests: { cpu: '1', 'hugepages-2Mi': '4Mi' },
  });
});

test('volumes', () => {
  const cases: readonly (readonly [Volume, Volume])[] = [
    [{ name: 'v' }, { name: 'v', emptyDir: {} }],
    [
      { name: 'v', secret: {} },
      { name: 'v', secret: { defaultMode: 420 } },
    ],
    [
      { name: 'v', configMap: { defaultMode: 0 } },
      { name: 'v', configMap: { defaultMode: 0 } },
    ],
    [
      { name: 'v', hostPath: { path: '/x' } },
      { name: 'v', hostPath: { path: '/x', type: '' } },
    ],
    [
      { name: 'v', image: { reference: 'a:1' } },
      { name: 'v', image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } },
    ],
    [
      { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }, { secret: { name: 's' } }] } },
      {
        name: 'v',
        projected: {
          defaultMode: 420,
          sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }, { secret: { name: 's' } }],
        },
      },
    ],
    [
      { name: 'v', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      {
        name: 'v',
        downwardAPI: {
          defaultMode: 420,
          items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels', apiVersion: 'v1' } }],
        },
      },
    ],
    [
      { name: 'v', rbd: { image: 'i', monitors: ['m'] } },
      { name: 'v', rbd: { image: 'i', monitors: ['m'], pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
    ],
  ];
  for (const [given, expected] of cases) {
    assert.deepEqual(defaultPodSpec({ containers: [], volumes: [given] }).volumes, [expected]);
  }
});

test('both names of the service account agree; an empty one is none', () => {
  assert.equal(defaultPodSpec({ containers: [], serviceAccount: 'a' }).serviceAccountName, 'a');
  assert.equal(defaultPodSpec({ containers: [], serviceAccountName: 'b', serviceAccount: 'a' }).serviceAccount, 'b');
  assert.ok(!('serviceAccountName' in defaultPodSpec({ containers: [] })));
});
