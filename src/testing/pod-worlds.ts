import fc from 'fast-check';
import { sandboxId } from '../base/ids.ts';
import type { Container } from '../gen/kubernetes/types.ts';
import { isRestartableInit } from '../model/containers.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../model/observed-pod.ts';
import { aContainer, anInstance, aPod, aSandbox, observedPod } from './pods.ts';

/** A pod, what is seen of it, and what its probes say: everything a decision about it is made from. */
export interface PodWorld {
  readonly pod: DesiredPod;
  readonly observed: ObservedPod;
  readonly liveness: Readonly<Record<string, Verdict>>;
  readonly startup: Readonly<Record<string, Verdict>>;
}

type Verdict = 'success' | 'failure' | 'unknown';

const verdict = fc.constantFrom<Verdict>('success', 'failure', 'unknown');
/** What is the rule comes more often than the exception, so that enough worlds are like those of every day. */
const mostly = fc.integer({ min: 0, max: 4 }).map((n) => n > 0);
const initShape = fc.record({ sidecar: fc.boolean(), startupProbe: fc.boolean() });
const instanceShape = fc.record({
  state: fc.constantFrom('exited', 'running', 'exited', 'created', 'unknown'),
  exitCode: fc.constantFrom(0, 1),
  reason: fc.constantFrom('', '', '', 'OOMKilled'),
  hash: fc.constantFrom('of the spec', 'of the spec', 'another', ''),
  inNewest: mostly,
  liveness: verdict,
  startup: verdict,
});
type InstanceShape = typeof instanceShape extends fc.Arbitrary<infer Shape> ? Shape : never;

const shape = fc.record({
  inits: fc.array(initShape, { maxLength: 3 }),
  regulars: fc.integer({ min: 1, max: 3 }),
  ephemeral: fc.boolean(),
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  deleting: fc.boolean(),
  sandboxes: fc.array(fc.record({ ready: mostly, address: mostly }), { maxLength: 2 }),
  instances: fc.array(fc.array(instanceShape, { maxLength: 2 }), { minLength: 7, maxLength: 7 }),
});
type Shape = typeof shape extends fc.Arbitrary<infer S> ? S : never;

/** Pods of all shapes in any state, also such as no agent would bring them into. */
export const anyPodWorld: fc.Arbitrary<PodWorld> = shape.map(worldOf);

/**
 * Pods of all shapes in the states they can come into: what comes before the furthest init container of the newest
 * sandbox has done its work there, and no container goes back to an older sandbox.
 */
export const orderlyPodWorld: fc.Arbitrary<PodWorld> = anyPodWorld.map(inOrder);

function worldOf(given: Shape): PodWorld {
  const inits = given.inits.map((init, n) =>
    aContainer(`init-${n}`, {
      ...(init.sidecar && { restartPolicy: 'Always' }),
      ...(init.startupProbe && { startupProbe: {} }),
    }),
  );
  const regulars = Array.from({ length: given.regulars }, (_, n) => aContainer(`main-${n}`));
  const ephemerals = given.ephemeral ? [aContainer('debug')] : [];
  const pod = aPod({
    spec: {
      restartPolicy: given.restartPolicy,
      containers: regulars,
      ...(inits.length > 0 && { initContainers: inits }),
      ...(given.ephemeral && { ephemeralContainers: ephemerals }),
    },
    ...(given.deleting && { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
  });
  const sandboxes = given.sandboxes.map(({ ready, address }, n): ObservedSandbox => {
    const attempt = given.sandboxes.length - 1 - n;
    return aSandbox(`s${attempt}`, {
      attempt,
      state: ready ? 'ready' : 'notReady',
      ips: address ? ['10.0.0.2'] : [],
    });
  });
  const shaped = [...inits, ...regulars, ...ephemerals].map((container, n) => ({
    container,
    shapes: given.instances[n] ?? [],
  }));
  const containers = shaped.flatMap(({ container, shapes }) =>
    shapes.map((instance, age) => observedInstance(container, instance, shapes.length - 1 - age, sandboxes)),
  );
  const verdicts = (which: 'liveness' | 'startup'): Record<string, Verdict> =>
    Object.fromEntries(
      shaped.flatMap(({ container, shapes }) =>
        shapes.map((instance, age) => [`${container.name}-${shapes.length - 1 - age}`, instance[which]] as const),
      ),
    );
  return {
    pod,
    observed: observedPod(sandboxes, containers),
    liveness: verdicts('liveness'),
    startup: verdicts('startup'),
  };
}

function observedInstance(
  container: Container,
  { state, exitCode, reason, hash, inNewest }: InstanceShape,
  attempt: number,
  sandboxes: readonly ObservedSandbox[],
): ObservedContainer {
  const newest = sandboxes[0]?.id;
  return anInstance(container.name, {
    attempt,
    state,
    sandboxId: inNewest && newest !== undefined ? newest : sandboxId('s-gone'),
    createdAt: 2_000 + attempt,
    ...(state === 'exited' && { exitCode, reason, finishedAt: 3_000 }),
    ...(hash !== 'of the spec' && { hash: hash === '' ? '' : 'ffffffff' }),
  });
}

function inOrder(anyWorld: PodWorld): PodWorld {
  const world = { ...anyWorld, observed: withoutReturns(anyWorld.observed) };
  const { pod, observed } = world;
  const newest = observed.sandboxes[0]?.id;
  const inits = pod.spec.initContainers ?? [];
  const isHere = (name: string) => (container: ObservedContainer) =>
    container.name === name && container.sandboxId === newest;
  const furthest = inits.findLastIndex(({ name }) => observed.containers.some(isHere(name)));
  const done = inits.slice(0, Math.max(0, furthest)).filter((container) => !isRestartableInit(container));
  const containers = done.reduce((all, { name }): readonly ObservedContainer[] => {
    const success = { state: 'exited', exitCode: 0, reason: 'Completed', finishedAt: 3_000 } as const;
    const index = all.findIndex(isHere(name));
    if (index >= 0) return all.map((container, n) => (n === index ? { ...container, ...success } : container));
    if (newest === undefined) return all;
    return [anInstance(name, { id: `${name}-9`, attempt: 9, sandboxId: newest, ...success }), ...all];
  }, observed.containers);
  return { ...world, observed: { ...observed, containers } };
}

/** A container that has come to the newest sandbox does not go back to an older one: later instances are here too. */
function withoutReturns(observed: ObservedPod): ObservedPod {
  const newest = observed.sandboxes[0]?.id;
  const containers = observed.containers.map((container, n, all) => {
    const cameHere = all.slice(n).some(({ name, sandboxId }) => name === container.name && sandboxId === newest);
    return cameHere && newest !== undefined ? { ...container, sandboxId: newest } : container;
  });
  return { ...observed, containers };
}
