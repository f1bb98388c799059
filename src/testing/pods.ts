import { containerId, podUid, sandboxId } from '../base/ids.ts';
import type { Cri } from '../cri/index.ts';
import { CreateContainerRequest, RunPodSandboxRequest } from '../gen/cri/api.ts';
import type { Container, Pod, PodSpec } from '../gen/kubernetes/types.ts';
import { containerHash } from '../model/container-hash.ts';
import { desiredPod, type DesiredPod, type PodSource } from '../model/desired-pod.ts';
import { containerHashAnnotation, containerLabels, sandboxLabels } from '../model/labels.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../model/observed-pod.ts';

/** Builders of pods for tests: complete by default, so that a test only says what it is about. */

export const testImage = 'localhost/test/busybox:1';

export function aContainer(name: string, more: Partial<Container> = {}): Container {
  return {
    name,
    image: testImage,
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
    ...more,
  };
}

export interface PodOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly source?: PodSource;
  readonly metadata?: Pod['metadata'];
  readonly spec?: Partial<PodSpec>;
  readonly status?: Pod['status'];
}

export function aPod(options: PodOptions = {}): DesiredPod {
  const { name = 'web', namespace = 'default', uid = 'uid-1', source = 'file' } = options;
  return desiredPod(source, {
    metadata: { name, namespace, uid, ...options.metadata },
    spec: {
      containers: [aContainer('main')],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'Default',
      securityContext: {},
      enableServiceLinks: true,
      ...options.spec,
    },
    status: options.status ?? {},
  });
}

export function aSandbox(id: string, more: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return {
    id: sandboxId(id),
    attempt: 0,
    state: 'ready',
    createdAt: 1_000,
    ips: ['10.0.0.2'],
    network: 'pod',
    networkKnown: true,
    ...more,
  };
}

/** An instance of a container of the default image, running; default sandbox: `s0`. */
export function anInstance(
  name: string,
  more: Partial<Omit<ObservedContainer, 'id'>> & { readonly id?: string } = {},
): ObservedContainer {
  const { id = `${name}-${more.attempt ?? 0}`, ...rest } = more;
  return {
    sandboxId: sandboxId('s0'),
    name,
    attempt: 0,
    state: 'running',
    createdAt: 2_000,
    startedAt: 2_100,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: testImage,
    imageRef: 'sha256:busybox',
    hash: containerHash(aContainer(name)),
    annotations: {},
    logPath: '',
    ...rest,
    id: containerId(id),
  };
}

export function exited(exitCode: number, finishedAt = 3_000): Partial<ObservedContainer> {
  return { state: 'exited', exitCode, finishedAt, reason: exitCode === 0 ? 'Completed' : 'Error' };
}

/** Containers newest first, as observations have them. */
export function observedPod(
  sandboxes: readonly ObservedSandbox[],
  containers: readonly ObservedContainer[],
  uid = 'uid-1',
): ObservedPod {
  return { uid: podUid(uid), name: 'web', namespace: 'default', observedAt: 0, sandboxes, containers };
}

/** Runs a sandbox of the pod in a runtime, as an agent would have; answers its id. */
export async function runSandbox(cri: Pick<Cri, 'runPodSandbox'>, pod: DesiredPod, attempt = 0): Promise<string> {
  const { name, namespace, uid } = pod;
  const config = { metadata: { name, namespace, uid, attempt }, labels: sandboxLabels(pod) };
  const { podSandboxId } = await cri.runPodSandbox(RunPodSandboxRequest.fromPartial({ config }));
  return podSandboxId;
}

/** Makes a container in a sandbox of the pod without starting it; answers its id. */
export async function createContainer(
  cri: Pick<Cri, 'createContainer'>,
  pod: DesiredPod,
  podSandboxId: string,
  name = 'main',
  attempt = 0,
): Promise<string> {
  const config = {
    metadata: { name, attempt },
    image: { image: testImage },
    labels: containerLabels(pod, name),
    annotations: { [containerHashAnnotation]: containerHash(aContainer(name)) },
  };
  return (await cri.createContainer(CreateContainerRequest.fromPartial({ podSandboxId, config }))).containerId;
}

/** Makes and starts a container in a sandbox of the pod; answers its id. */
export async function runContainer(
  cri: Pick<Cri, 'createContainer' | 'startContainer'>,
  pod: DesiredPod,
  podSandboxId: string,
  name = 'main',
  attempt = 0,
): Promise<string> {
  const containerId = await createContainer(cri, pod, podSandboxId, name, attempt);
  await cri.startContainer({ containerId });
  return containerId;
}
