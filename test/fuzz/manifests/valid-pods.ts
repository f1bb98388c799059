import type { Dice } from '../../simulation/dice.ts';
import { testImage } from '../../../src/testing/pods.ts';
import type { Mapping, Tree } from './tree.ts';

export interface PodTree extends Mapping {
  apiVersion: string;
  kind: string;
  metadata: Mapping;
  spec: Mapping & { containers: Tree[] };
}

interface NamedTree extends Mapping {
  name: string;
}

/** Names that hostile pods have among themselves; the good pods have others. */
const names = ['alpha', 'beta', 'gamma.delta', 'n0', 'long-' + 'n'.repeat(40)];
export const settingsName = 'fuzz-settings';
export const secretName = 'fuzz-secret';
/** The value of a secret, which may be in no log line, event or status. */
export const secretMark = 'sw0rdf1sh-of-a-secret';

/** A pod that is well, with something of everything in it; `references`: it names ConfigMaps and Secrets. */
export function validPod(dice: Dice, references: boolean): PodTree {
  const volumes = volumesOf(dice, references);
  const containers = Array.from({ length: dice.pick([1, 1, 2, 3]) }, (_, at) =>
    container(dice, `c${at}`, volumes, references),
  );
  const some = (probability: number, part: Mapping): Mapping => (dice.chance(probability) ? part : {});
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: dice.pick(names),
      namespace: dice.pick(['default', 'kube-system']),
      labels: { app: 'web', 'example.com/tier': 'back' },
      annotations: { note: 'a note', 'example.com/long': 'x'.repeat(100) },
      ...some(0.1, { uid: `uid-${dice.whole(1, 9)}` }),
    },
    spec: {
      containers,
      volumes,
      terminationGracePeriodSeconds: dice.pick([0, 1, 5, 30]),
      restartPolicy: dice.pick(['Always', 'Always', 'OnFailure', 'Never']),
      ...some(0.3, { initContainers: [init(dice)] }),
      ...some(0.2, { hostname: 'web-0', subdomain: 'sub' }),
      ...some(0.2, { hostNetwork: true }),
      ...some(0.2, { nodeSelector: { 'kubernetes.io/os': 'linux' } }),
      ...some(0.2, { hostAliases: [{ ip: '192.0.2.7', hostnames: ['one.example', 'two.example'] }] }),
      ...some(0.2, {
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['192.0.2.1'], searches: ['example.com'], options: [{ name: 'ndots', value: '2' }] },
      }),
      ...some(0.3, {
        securityContext: {
          runAsUser: 1000,
          fsGroup: 2000,
          supplementalGroups: [3000],
          seccompProfile: { type: 'RuntimeDefault' },
        },
      }),
      ...some(0.2, { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }] }),
      ...some(0.2, { priorityClassName: 'system-node-critical' }),
      ...some(0.2, { activeDeadlineSeconds: 3600 }),
      ...some(0.1, {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }],
            },
          },
        },
      }),
    },
  };
}

function container(dice: Dice, name: string, volumes: readonly NamedTree[], references: boolean): Mapping {
  const some = (probability: number, part: Mapping): Mapping => (dice.chance(probability) ? part : {});
  const probe = (): Mapping => ({
    exec: { command: ['true'] },
    periodSeconds: 10,
    timeoutSeconds: 1,
    failureThreshold: 3,
  });
  return {
    name,
    image: testImage,
    command: ['sh', '-c', 'echo $(A) $$(B)'],
    args: ['$(A)'],
    env: [
      { name: 'A', value: 'one' },
      { name: 'B', value: '$(A) two' },
      ...(dice.chance(0.3) ? [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] : []),
      ...(dice.chance(0.3)
        ? [{ name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } }]
        : []),
      ...(references
        ? [{ name: 'C', valueFrom: { configMapKeyRef: { name: settingsName, key: 'color', optional: true } } }]
        : []),
    ],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
    volumeMounts: volumes.map((volume) => ({
      name: volume.name,
      mountPath: `/mnt/${volume.name}`,
    })),
    ...some(0.3, { ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }),
    ...some(0.3, { livenessProbe: probe() }),
    ...some(0.2, {
      readinessProbe: { httpGet: { path: '/', port: 8080, httpHeaders: [{ name: 'X-A', value: 'b' }] } },
    }),
    ...some(0.2, { startupProbe: { tcpSocket: { port: 'http' } }, ports: [{ name: 'http', containerPort: 8080 }] }),
    ...some(0.2, {
      lifecycle: { preStop: { exec: { command: ['sync'] } }, postStart: { httpGet: { path: '/hook', port: 8080 } } },
    }),
    ...some(0.3, {
      securityContext: {
        runAsUser: 0,
        capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      },
    }),
    ...some(0.2, {
      workingDir: '/tmp',
      terminationMessagePath: '/dev/end',
      terminationMessagePolicy: 'FallbackToLogsOnError',
    }),
    ...(references ? { envFrom: [{ prefix: 'P_', configMapRef: { name: settingsName, optional: true } }] } : {}),
  };
}

const init = (dice: Dice): Mapping => ({
  name: 'init',
  image: testImage,
  ...(dice.chance(0.5) && { restartPolicy: 'Always' }),
});

function volumesOf(dice: Dice, references: boolean): NamedTree[] {
  const kinds: NamedTree[] = [
    { name: 'scratch', emptyDir: { sizeLimit: '1Mi' } },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
    { name: 'host', hostPath: { path: '/srv/fuzz', type: 'DirectoryOrCreate' } },
    { name: 'down', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ...(references
      ? [
          {
            name: 'conf',
            configMap: {
              name: settingsName,
              optional: true,
              items: [{ key: 'color', path: 'sub/color', mode: 0o400 }],
            },
          },
          { name: 'hidden', secret: { secretName, optional: true } },
          {
            name: 'mixed',
            projected: {
              sources: [
                { configMap: { name: settingsName, optional: true } },
                { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
              ],
            },
          },
        ]
      : []),
  ];
  return kinds.filter(() => dice.chance(0.4));
}

export const settingsObject = (data: Mapping = { color: 'green', 'size.txt': 'xl' }): Mapping => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: settingsName, namespace: 'default' },
  data,
});

export const secretObject = (data: Mapping = { password: Buffer.from(secretMark).toString('base64') }): Mapping => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: secretName, namespace: 'default' },
  data,
});
