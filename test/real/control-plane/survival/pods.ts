import { idle, podOf, shell } from '../../../support/real-pods.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Where pods and test meet. */
export interface SurvivalWorld {
  readonly namespace: string;
  readonly image: string;
  /** A folder of the machine that all pods see as /shared. */
  readonly folder: string;
}

const mounts = { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] };

/** A pod with one container that runs a script. */
export function survivor(
  world: SurvivalWorld,
  name: string,
  script: string,
  more: Fields = {},
  spec: Fields = {},
): object {
  return podOf(
    name,
    {
      terminationGracePeriodSeconds: 5,
      volumes: [{ name: 'shared', hostPath: { path: world.folder } }],
      containers: [shell('main', world.image, script, { ...mounts, ...more })],
      ...spec,
    },
    { namespace: world.namespace, labels: { app: name } },
  );
}

/** Pods that serve, and are asked all the time whether they do. */
export function webDeployment(world: SurvivalWorld, replicas: number): object {
  const get = { httpGet: { path: '/', port: 8080 }, periodSeconds: 5, timeoutSeconds: 10 };
  const serve = 'echo well > /tmp/index.html; exec httpd -f -p 8080 -h /tmp';
  const probes = { readinessProbe: { ...get, periodSeconds: 2 }, livenessProbe: { ...get, failureThreshold: 6 } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { terminationGracePeriodSeconds: 1, containers: [shell('main', world.image, serve, probes)] },
      },
    },
  };
}

/** Ends with code 3 as soon as a file of its name says so; that file is taken away. */
export const stumbler = (name: string): string =>
  `while ! [ -e /shared/${name} ]; do sleep 0.2; done; rm /shared/${name}; exit 3`;

const asked = { periodSeconds: 1, timeoutSeconds: 20 };

/** A container that is taken for ill while a file is there, and begins without it. */
export function patient(world: SurvivalWorld): object {
  const livenessProbe = { exec: { command: ['test', '!', '-e', '/shared/ill'] }, failureThreshold: 2, ...asked };
  return survivor(world, 'patient', `rm -f /shared/ill; ${idle}`, { livenessProbe });
}

/** A container that is not ready while a file is there. */
export function moody(world: SurvivalWorld): object {
  const readinessProbe = { exec: { command: ['test', '!', '-e', '/shared/sulks'] }, failureThreshold: 1, ...asked };
  return survivor(world, 'moody', idle, { readinessProbe });
}

/** Takes its time to go, and says so when it has gone. */
export function slowLeaver(world: SurvivalWorld, name: string, seconds: number): object {
  const script = `trap "sleep ${seconds}; touch /shared/${name}-left; exit 0" TERM; while true; do sleep 1000 & wait $!; done`;
  return survivor(world, name, script, {}, { terminationGracePeriodSeconds: seconds + 60 });
}
