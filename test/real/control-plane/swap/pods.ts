import { idle, podOf, shell } from '../../../support/real-pods.ts';
import { http, marked, mount, often, serve, type Fields, type SwapWorld } from './parts.ts';
import { swapSpecs } from './specs.ts';

/** What pods of a namespace refer to. */
export function swapObjects({ namespace }: SwapWorld): readonly object[] {
  const of = (kind: string, name: string, more: Fields): object => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace },
    ...more,
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    of('ConfigMap', 'settings', { data: { color: 'green', 'b.conf': 'two\n' }, binaryData: { bin: 'AAEC/w==' } }),
    of('ConfigMap', 'still', { data: { word: 'stays' } }),
    of('Secret', 'keys', { stringData: { pin: '1234', user: 'anna' } }),
    of('Service', 'front', {
      spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    }),
  ];
}

/** Those whose pods somebody else names: three of a Deployment with all kinds of HTTP probes, two with a command. */
export function swapDeployments({ namespace, image }: SwapWorld): readonly object[] {
  const deployment = (name: string, replicas: number, spec: Fields): object => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { terminationGracePeriodSeconds: 2, ...spec } },
    },
  });
  const web = shell('web', image, serve(8080), {
    ports: [{ name: 'http', containerPort: 8080 }],
    startupProbe: { ...http('http'), ...often, periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { ...http('http'), ...often },
    livenessProbe: { ...http(8080), ...often },
    volumeMounts: [mount('settings')],
  });
  const work = shell('work', image, idle, { readinessProbe: { exec: { command: marked }, ...often } });
  return [
    deployment('web', 3, { containers: [web], volumes: [{ name: 'settings', configMap: { name: 'settings' } }] }),
    deployment('worker', 2, { containers: [work] }),
  ];
}

/** A Job whose pod has ended well. */
export function swapJob({ namespace, image }: SwapWorld): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', namespace },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [shell('main', image, 'echo done')] } },
    },
  };
}

/** Pods by name. Those of two namespaces are equal but for names and ids. */
export function swapPods(world: SwapWorld): ReadonlyMap<string, object> {
  return new Map(
    Object.entries(swapSpecs(world)).map(([name, spec]) => [
      name,
      podOf(
        name,
        { terminationGracePeriodSeconds: 2, ...spec },
        { namespace: world.namespace, labels: { app: name, kind: 'swap' }, annotations: { note: 'a "quoted" word' } },
      ),
    ]),
  );
}

/** A manifest for the folder of the node. With a uid of its own it is the same pod to every agent. */
export function staticPod(name: string, uid: string, image: string): object {
  return podOf(
    name,
    {
      terminationGracePeriodSeconds: 2,
      containers: [
        shell('main', image, serve(8083), {
          readinessProbe: { ...http(8083), ...often },
          volumeMounts: [mount('data')],
        }),
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
    { namespace: 'kube-system', uid, labels: { app: 'static' } },
  );
}
