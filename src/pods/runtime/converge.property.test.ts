import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sandboxId } from '../../base/ids.ts';
import { containerHash } from '../../model/container-hash.ts';
import { isRestartableInit, sidecarsOf } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import { anInstance, aSandbox, exited } from '../../testing/pods.ts';
import { anyPodWorld, orderlyPodWorld, type PodWorld } from '../../testing/pod-worlds.ts';
import { computePodActions } from './compute-actions.ts';
import { computePrune } from '../container-gc/index.ts';
import type { ContainerStart, PodActions } from './pod-actions.ts';
import { computeRestartCount } from './prepare-container.ts';

/** How often a pod may be decided upon until there is nothing left to do. */
const maxRounds = 12;

/** A runtime so small that it can be seen through: what is started runs, plain init containers do their work and end. */
class ModelRuntime {
  observed: ObservedPod;
  readonly #pod: DesiredPod;
  readonly #exitOf: (name: string) => number | undefined;
  #made = 0;

  constructor({ pod, observed }: PodWorld, exitOf: (name: string) => number | undefined) {
    this.#pod = pod;
    this.observed = observed;
    this.#exitOf = exitOf;
  }

  apply(actions: PodActions): void {
    const { killPod, createSandbox, kill, start } = actions;
    const prune = computePrune(this.observed, 1);
    if (killPod !== undefined) {
      this.#set({ sandboxes: this.observed.sandboxes.map((sandbox) => ({ ...sandbox, state: 'notReady', ips: [] })) });
      this.#end(() => true);
    }
    this.#end(({ id }) => kill.some((killed) => killed.id === id));
    this.#set({
      containers: this.observed.containers.filter(({ id }) => !prune.containers.some((pruned) => pruned.id === id)),
      sandboxes: this.observed.sandboxes.filter(({ id }) => !prune.sandboxes.includes(id)),
    });
    if (createSandbox !== undefined) {
      const { attempt } = createSandbox;
      this.#set({ sandboxes: [aSandbox(`new-${attempt}`, { attempt }), ...this.observed.sandboxes] });
    }
    for (const one of start) this.#start(one);
  }

  /** What runs to its end by itself comes there. */
  timePasses(): void {
    const { initContainers = [] } = this.#pod.spec;
    const plain = new Set(initContainers.filter((init) => !isRestartableInit(init)).map(({ name }) => name));
    const containers = this.observed.containers.map((container) => {
      const code = plain.has(container.name) ? 0 : this.#exitOf(container.name);
      return container.state === 'running' && code !== undefined ? { ...container, ...exited(code) } : container;
    });
    this.#set({ containers });
  }

  alive(): readonly string[] {
    const { sandboxes, containers } = this.observed;
    return [
      ...sandboxes.filter(({ state }) => state === 'ready').map(({ id }) => id),
      ...containers.filter(({ state }) => state === 'running' || state === 'unknown').map(({ id }) => id),
    ];
  }

  #start(start: ContainerStart): void {
    const { container, previous } = start;
    const id = `made-${++this.#made}`;
    const instance = anInstance(container.name, {
      id,
      attempt: computeRestartCount(start, undefined),
      sandboxId: this.observed.sandboxes[0]?.id ?? sandboxId('none'),
      createdAt: 10_000 + this.#made,
      hash: containerHash(container),
    });
    const rest = this.observed.containers.filter((other) => !(other.state === 'created' && other.id === previous?.id));
    this.#set({ containers: [instance, ...rest] });
  }

  #end(which: (container: ObservedContainer) => boolean): void {
    const containers = this.observed.containers.map((container) =>
      (container.state === 'running' || container.state === 'unknown') && which(container)
        ? { ...container, ...exited(137) }
        : container,
    );
    this.#set({ containers });
  }

  #set(change: Partial<ObservedPod>): void {
    this.observed = { ...this.observed, ...change };
  }
}

/** Decides and acts until nothing is left to do; answers the end, or throws. Probes of new instances succeed. */
function converge(world: PodWorld, exitOf: (name: string) => number | undefined = () => undefined): ModelRuntime {
  const runtime = new ModelRuntime(world, exitOf);
  const history: string[] = [];
  for (let round = 0; round < maxRounds; round++) {
    const actions = computePodActions({
      pod: world.pod,
      observed: runtime.observed,
      probes: {
        liveness: (id) => world.liveness[id] ?? 'success',
        startup: (id) => world.startup[id] ?? 'success',
      },
    });
    const { killPod, createSandbox, kill, start } = actions;
    history.push(
      [
        ...(killPod ? [`kill pod: ${killPod.reason}`] : []),
        ...(createSandbox ? [`sandbox ${createSandbox.attempt}`] : []),
        ...kill.map(({ id }) => `kill ${id}`),
        ...start.map(({ container, reason }) => `start ${container.name}: ${reason}`),
      ].join(', '),
    );
    const idle = createSandbox === undefined && kill.length + start.length === 0;
    runtime.apply(actions);
    const before = JSON.stringify(runtime.observed);
    runtime.timePasses();
    const settled = before === JSON.stringify(runtime.observed);
    if (idle && settled && (killPod === undefined || runtime.alive().length === 0)) return runtime;
  }
  return assert.fail(`no end in sight:\n${history.join('\n')}`);
}

const newestOf = (runtime: ModelRuntime, name: string): ObservedContainer | undefined =>
  runtime.observed.containers.find((container) => container.name === name);

test('from any state a pod comes to rest', () => {
  fc.assert(
    fc.property(anyPodWorld, (world) => void converge(world)),
    { numRuns: 500 },
  );
});

test('a pod that shall run for ever comes to run in one sandbox, with all its sidecars', () => {
  fc.assert(
    fc.property(orderlyPodWorld, (world) => {
      const { pod, observed } = world;
      // A container outside of the newest sandbox that still runs does not come about: sandboxes are stopped as a whole.
      fc.pre(
        observed.containers.every(
          ({ state, sandboxId }) => state !== 'running' || sandboxId === observed.sandboxes[0]?.id,
        ),
      );
      fc.pre(pod.spec.restartPolicy === 'Always' && pod.metadata.deletionTimestamp === undefined);
      // Probes of old instances without a result keep a pod waiting; that is right, and not what this is about.
      const runtime = converge({ ...world, startup: {}, liveness: {} });
      const ready = runtime.observed.sandboxes.filter(({ state }) => state === 'ready');
      assert.equal(ready.length, 1);
      for (const { name } of [...pod.spec.containers, ...sidecarsOf(pod.spec)]) {
        assert.equal(newestOf(runtime, name)?.state, 'running', name);
      }
    }),
    { numRuns: 500 },
  );
});

test('a pod whose containers end comes to its end, and everything with it', () => {
  fc.assert(
    fc.property(orderlyPodWorld, fc.constantFrom('Never', 'OnFailure'), (world, restartPolicy) => {
      const pod = { ...world.pod, spec: { ...world.pod.spec, restartPolicy } };
      const mains = new Set(pod.spec.containers.map(({ name }) => name));
      const runtime = converge({ ...world, pod }, (name) => (mains.has(name) ? 0 : undefined));
      const waits = (pod.spec.initContainers ?? []).some(({ startupProbe }) => startupProbe !== undefined);
      if (!waits) assert.deepEqual(runtime.alive(), []);
    }),
    { numRuns: 500 },
  );
});
