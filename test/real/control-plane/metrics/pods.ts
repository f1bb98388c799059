import { idle, podOf, shell } from '../../../support/real-pods.ts';
import type { Namespace } from '../cluster-view.ts';
import type { ControlPlane } from '../control-plane.ts';

type Fields = Readonly<Record<string, unknown>>;

export const heldMebibytes = 64;
export const writtenMebibytes = 4;

const mebibyte = 1024 * 1024;
const fill = (megabytes: number): string => `head -c ${megabytes * mebibyte} /dev/zero`;

/**
 * Pods that use something of each kind, and two that cannot run, because some figures appear with the first failure.
 * Returns when all are as they shall be.
 */
export async function startMeteredPods(here: Namespace, image: string, nodeName: string): Promise<void> {
  const pod = (name: string, container: Fields, spec: Fields = {}): object =>
    podOf(
      name,
      { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image, ...container }], ...spec },
      { namespace: here.name },
    );
  const script = (text: string): Fields => shell('main', image, text);
  await here.apply(
    // With a limit, so that it leaves something for others, and has been throttled.
    pod('burner', {
      ...script('while :; do :; done'),
      resources: { requests: { cpu: '200m' }, limits: { cpu: '400m' } },
    }),
    pod('holder', {
      ...script(`held=$(${fill(heldMebibytes)} | tr "\\0" a); touch /full; ${idle}`),
      resources: { limits: { memory: '256Mi' } },
      readinessProbe: { exec: { command: ['test', '-f', '/full'] }, periodSeconds: 1 },
    }),
    pod(
      'writer',
      {
        ...script(`${fill(writtenMebibytes)} > /data/file; echo written; ${idle}`),
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        readinessProbe: { exec: { command: ['test', '-f', '/data/file'] }, periodSeconds: 1 },
      },
      { volumes: [{ name: 'data', emptyDir: {} }] },
    ),
    pod('broken', { command: ['/nothing/here'] }, { restartPolicy: 'Never' }),
    pod('misplaced', script(idle), { nodeName, nodeSelector: { 'no-such': 'label' } }),
  );
  for (const name of ['burner', 'holder', 'writer']) await here.podReady(name);
  for (const name of ['broken', 'misplaced']) {
    await here.podWhen(name, 'has failed', ({ status }) => status?.phase === 'Failed');
  }
}

/** The pod of the record, made by `create`: `apply` would add an annotation. */
export async function startRecordedPod(plane: ControlPlane, here: Namespace, image: string): Promise<void> {
  const container = { name: 'p1', image, command: ['sh', '-c', 'sleep 1000 & wait'] };
  const spec = { containers: [container], tolerations: [{ operator: 'Exists' }] };
  const pod = podOf('p1', spec, { namespace: here.name, labels: { run: 'p1' } });
  const { code, stderr } = await plane.kubectl(['create', '--filename=-'], JSON.stringify(pod));
  if (code !== 0) throw new Error(`kubectl create: ${stderr}`);
  await here.podReady('p1');
}
