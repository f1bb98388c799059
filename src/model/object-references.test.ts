import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import { namedObjects } from './object-references.ts';

test('everything that names a config map or a secret is found', () => {
  const from = (suffix: string): Pick<NonNullable<PodSpec['initContainers']>[number], 'env' | 'envFrom'> => ({
    envFrom: [{ configMapRef: { name: `from-map${suffix}` } }, { secretRef: { name: `from-secret${suffix}` } }],
    env: [
      { name: 'A', valueFrom: { configMapKeyRef: { name: `env-map${suffix}`, key: 'k' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: `env-secret${suffix}`, key: 'k', optional: true } } },
      { name: 'C', value: 'plain' },
      { name: 'D', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
  });
  const spec: PodSpec = {
    imagePullSecrets: [{ name: 'pull' }, {}],
    initContainers: [{ name: 'i', ...from('-i') }],
    containers: [{ name: 'c', ...from('-c') }],
    ephemeralContainers: [{ name: 'e', ...from('-e') }],
    volumes: [
      { name: 'a', configMap: { name: 'volume-map' } },
      { name: 'b', secret: { secretName: 'volume-secret' } },
      { name: 'c', projected: { sources: [{ configMap: { name: 'p-map' } }, { secret: { name: 'p-secret' } }] } },
      { name: 'd', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
      { name: 'e', emptyDir: {} },
    ],
  };
  const all = namedObjects(spec).map(({ kind, name, reader }) => `${reader} ${kind} ${name}`);
  const ofContainer = (suffix: string): string[] => [
    `agent ConfigMap from-map${suffix}`,
    `agent Secret from-secret${suffix}`,
    `agent ConfigMap env-map${suffix}`,
    `agent Secret env-secret${suffix}`,
  ];
  assert.deepEqual(all, [
    'agent Secret pull',
    ...ofContainer('-i'),
    ...ofContainer('-c'),
    ...ofContainer('-e'),
    'agent ConfigMap volume-map',
    'agent Secret volume-secret',
    'agent ConfigMap p-map',
    'agent Secret p-secret',
    'driver Secret csi',
  ]);
  assert.deepEqual(namedObjects({ containers: [] }), []);
});
