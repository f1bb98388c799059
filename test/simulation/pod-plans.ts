import { podUid, type PodUid } from '../../src/base/ids.ts';
import type { Container, PodSpec } from '../../src/gen/kubernetes/types.ts';
import { desiredPod, type DesiredPod, type PodSource } from '../../src/model/desired-pod.ts';
import { staticPodName } from '../../src/model/static-pod.ts';
import {
  exitAfter,
  failsToStart,
  ignoresTerm,
  oomAfter,
  runsUntilStopped,
  stopsSlowly,
  type Behaviour,
} from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { nodeName } from '../support/agent-settings.ts';
import type { Dice } from './dice.ts';
import { kindOf, mountsOf, volumeKindsOf, type Shown, type VolumeKind } from './storage.ts';

type Role = 'init' | 'sidecar' | 'regular';
type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** One version of a manifest, and what its programs are like. */
export interface PodPlan {
  readonly uid: PodUid;
  /** One of the few names that pods have; files are called by it. */
  readonly slot: string;
  /** Static pods have that of the node behind it. */
  readonly name: string;
  readonly pod: DesiredPod;
  readonly restartPolicy: RestartPolicy;
  readonly graceSeconds: number;
  readonly containers: readonly PlannedContainer[];
  /** What its containers use; each of them all. */
  readonly volumes: readonly VolumeKind[];
}

export interface PlannedContainer {
  readonly name: string;
  readonly role: Role;
  readonly temper: Temper;
}

const tempers = {
  regular: { serves: 5, completes: 4, crashes: 4, moody: 4, stubborn: 3, slow: 2, unstartable: 1 },
  sidecar: { serves: 6, crashes: 2, moody: 2, stubborn: 2, slow: 1, completes: 1, unstartable: 1 },
  init: { completes: 8, crashes: 2, moody: 4, stubborn: 1, slow: 1, unstartable: 1, serves: 0 },
} as const;
type Temper = keyof (typeof tempers)['regular'];

/** The name of the image tells whose program runs: the runtime's script knows neither uid nor role. */
export const imageOf = (uid: string): string => `localhost/sim/${uid}:1`;
export const uidOfImage = (image: string): PodUid => podUid(/sim\/(?<uid>[^:]+):/.exec(image)?.groups?.['uid'] ?? '');

export function planPod(dice: Dice, slot: string, version: number, source: PodSource = 'file'): PodPlan {
  const uid = `${slot}-v${version}`;
  const name = source === 'api' ? slot : staticPodName(slot, nodeName);
  const restartPolicy = dice.pick<RestartPolicy>(['Always', 'Always', 'OnFailure', 'Never']);
  const graceSeconds = dice.pick([0, 1, 2, 5, 15, 30]);
  const planned: PlannedContainer[] = [];
  const add = (role: Role, count: number): void => {
    for (let n = 0; n < count; n++) planned.push({ name: `${role}${n}`, role, temper: dice.weighted(tempers[role]) });
  };
  add('init', dice.pick([0, 0, 0, 1, 2]));
  add('sidecar', dice.pick([0, 0, 0, 1, 2]));
  add('regular', dice.pick([1, 1, 2, 3]));
  const container = ({ name, role }: PlannedContainer): Container =>
    aContainer(name, {
      image: imageOf(uid),
      imagePullPolicy: dice.pick(['IfNotPresent', 'IfNotPresent', 'Always']),
      ...(role === 'sidecar' && { restartPolicy: 'Always' }),
    });
  // Sidecars stand anywhere among the init containers.
  const front = planned.filter(({ role }) => role !== 'regular');
  const initContainers = (dice.chance(0.5) ? front : front.toReversed()).map(container);
  const spec: Partial<PodSpec> = {
    restartPolicy,
    terminationGracePeriodSeconds: graceSeconds,
    containers: planned.filter(({ role }) => role === 'regular').map(container),
    ...(initContainers.length > 0 && { initContainers }),
    ...(dice.chance(0.2) && { hostNetwork: true }),
  };
  const volumes = dice.chance(0.5) ? volumeKindsOf(source).filter(() => dice.chance(0.5)) : [];
  const shown = new Map(volumes.map((kind) => [kind, dice.pick<Shown>(['whole', 'part', 'both'])]));
  const group = dice.chance(0.3) ? { securityContext: { fsGroup: 2_000 } } : {};
  const pod = aPod({ name, namespace: 'default', uid, source, spec: { ...withVolumes(spec, name, shown), ...group } });
  return { uid: podUid(uid), slot, name, pod, restartPolicy, graceSeconds, containers: planned, volumes };
}

/** Its file in the manifests folder. */
export function manifestOf({ uid, slot, pod }: PodPlan): string {
  const metadata = { name: slot, namespace: 'default', uid };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec });
}

/** The same with volumes, which every container uses. */
export function withVolumes(
  spec: Partial<PodSpec>,
  pod: string,
  shown: ReadonlyMap<VolumeKind, Shown>,
): Partial<PodSpec> {
  if (shown.size === 0) return spec;
  const volumeMounts = [...shown].flatMap(([kind, how]) => mountsOf(kind, how));
  const using = (containers: readonly Container[] = []): readonly Container[] =>
    containers.map((container) => ({ ...container, volumeMounts }));
  return {
    ...spec,
    volumes: [...shown.keys()].map((name) => ({ name, ...kindOf(name).source(pod) })),
    containers: using(spec.containers),
    ...(spec.initContainers && { initContainers: using(spec.initContainers) }),
  };
}

/** The same pod after an update of its images. */
export function withOtherImages(plan: PodPlan, dice: Dice): PodPlan {
  const image = imageOf(plan.uid).replace(/:\d+$/, `:${dice.whole(2, 9)}`);
  const { pod } = plan;
  const containers = pod.spec.containers.map((container) => (dice.chance(0.7) ? { ...container, image } : container));
  const spec = { ...pod.spec, containers };
  return { ...plan, pod: desiredPod(pod.source, { metadata: pod.metadata, spec, status: pod.status }) };
}

/** What one start of a container does while everything may go wrong. Ends of its own come within half a minute. */
export function wildBehaviour(dice: Dice, { role, temper }: PlannedContainer): Behaviour {
  const soon = (): number => (dice.chance(0.4) ? dice.whole(0, 20) : dice.whole(20, 30_000));
  switch (temper) {
    case 'serves':
      return runsUntilStopped();
    case 'completes':
      return exitAfter(soon(), 0);
    case 'crashes':
      return dice.chance(0.2) ? oomAfter(soon()) : exitAfter(soon(), dice.whole(1, 3));
    case 'stubborn':
      return role === 'init' ? { ...ignoresTerm(), ...exitAfter(soon(), 0) } : ignoresTerm();
    case 'slow':
      return {
        ...stopsSlowly(dice.whole(1, 8_000), dice.pick([0, 143])),
        ...(role === 'init' && exitAfter(soon(), 0)),
      };
    case 'unstartable':
      return dice.chance(0.7) ? failsToStart('no such program') : exitAfter(soon(), dice.whole(0, 1));
    case 'moody':
      return dice.chance(0.5)
        ? exitAfter(soon(), dice.whole(0, 2))
        : role === 'init'
          ? exitAfter(soon(), 0)
          : runsUntilStopped();
    default:
      return temper satisfies never;
  }
}

/** What a start does once the trouble is over: every program does what its pod was made for. */
export function tameBehaviour(plan: PodPlan, { role, temper }: PlannedContainer): Behaviour {
  if (role === 'init') return exitAfter(200, 0);
  if (role === 'regular' && plan.restartPolicy !== 'Always' && temper === 'completes') return exitAfter(2_000, 0);
  return temper === 'stubborn' ? ignoresTerm() : runsUntilStopped();
}
