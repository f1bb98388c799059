import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TubeletError } from '../base/errors.ts';
import {
  cgroupPath,
  kubepodsCgroup,
  podCgroup,
  qosCgroup,
  sliceUnit,
  type CgroupDriver,
} from '../model/cgroup-names.ts';
import { cgroupSettings, type CgroupVersion } from '../model/cgroup-values.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { podQos } from '../model/qos.ts';
import { fakeBench } from '../testing/cgroup-conformance/index.ts';
import { someCgroupSettings } from '../testing/cgroup-settings.ts';
import { commonPorts } from '../testing/common-ports.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { podCgroupSettings } from './cgroups/index.ts';
import { podCgroupValues } from './cgroups/pod-cgroup-values.ts';
import { createCgroups } from './create-cgroups.ts';

/** Agents that are killed at any call, and a bus that loses calls before or after systemd has done the work. */

const cpus = ['0', '100m', '250m', '1'];
const pods: readonly DesiredPod[] = cpus.flatMap((cpu, index) => {
  const requests = cpu === '0' ? {} : { cpu, memory: '16Mi' };
  const limits = index % 2 === 1 ? requests : {};
  return ['a', 'b'].map((letter) =>
    aPod({
      uid: `${index}-${letter}`,
      spec: { containers: [aContainer('main', { resources: { requests, limits } })] },
    }),
  );
});

type Step =
  | { readonly kind: 'add' | 'remove'; readonly pod: number }
  | { readonly kind: 'kill'; readonly afterCalls: number }
  | {
      readonly kind: 'fault';
      readonly afterCalls: number;
      readonly how: 'busLost' | 'timeout';
      readonly done: boolean;
    };

const podNumber = fc.nat(pods.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), pod: podNumber }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), pod: podNumber }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('kill' as const), afterCalls: fc.nat(25) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      afterCalls: fc.nat(6),
      how: fc.constantFrom('busLost' as const, 'timeout' as const),
      done: fc.boolean(),
    }),
  },
);

/** After so many calls nothing of a life arrives any more. */
interface Life {
  callsLeft: number;
}

function mortal<T extends object>(life: Life, port: T): T {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...words: readonly unknown[]): unknown => {
        if (life.callsLeft-- <= 0) throw new TubeletError('unavailable', 'this agent is dead');
        return value.apply(target, words);
      };
    },
  });
}

class World {
  readonly bench;
  readonly wanted = new Set<DesiredPod>();
  /** Pods whose process must live, with how to see whether it does. */
  readonly running = new Map<DesiredPod, () => boolean>();
  readonly #driver: CgroupDriver;
  readonly #version: CgroupVersion;
  #faults: (Extract<Step, { kind: 'fault' }> & { left: number })[] = [];
  life: Life = { callsLeft: Infinity };
  agent;

  constructor(version: CgroupVersion, driver: CgroupDriver) {
    [this.#version, this.#driver] = [version, driver];
    this.bench = fakeBench(version, driver);
    this.bench.systemd.fault = () => {
      for (const fault of this.#faults) if (fault.left-- === 0) return { kind: fault.how, done: fault.done };
      return undefined;
    };
    this.agent = this.#newAgent();
  }

  get settings() {
    return someCgroupSettings({
      cgroupDriver: this.#driver,
      cgroupVersion: this.#version,
      cgroupRoot: '/conformance',
      podPidsLimit: 50,
    });
  }

  pathOf(pod: DesiredPod): string {
    return cgroupPath(podCgroup('/conformance', podQos(pod), pod.uid), this.#driver);
  }

  #newAgent() {
    const clock = new FakeClock();
    const log = new MemoryLog();
    const { bench, life } = this;
    const agent = createCgroups({
      ports: commonPorts({ clock, log }),
      signals: { podRemoval: new PodRemoval(log) },
      settings: this.settings,
      host: { tree: mortal(life, bench.tree), processes: bench.processes },
      units: bench.units && mortal(life, bench.units),
      pods: {
        active: () => [...this.wanted],
        complete: () => true,
        trace: async (uid) => ([...this.wanted].some((pod) => pod.uid === uid) ? 'known' : 'none'),
      },
      events: { record: () => {} },
    });
    return { ...agent, clock };
  }

  /** Systemd starts an agent again until one comes up. */
  async restart(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      for (const component of this.agent.components) await component.stop();
      this.life = { callsLeft: Infinity };
      this.agent = this.#newAgent();
      try {
        for (const component of this.agent.components) await component.start(new AbortController().signal);
        return;
      } catch {
        // The bus was lost during the start.
      }
    }
    assert.fail('no agent came up');
  }

  async run(next: Step): Promise<void> {
    if (next.kind === 'kill') this.life.callsLeft = next.afterCalls;
    else if (next.kind === 'fault') this.#faults.push({ ...next, left: next.afterCalls });
    else await this.#sync(pods[next.pod] ?? assert.fail('no such pod'), next.kind === 'add');
    if (this.life.callsLeft <= 0) await this.restart();
    for (const [pod, lives] of this.running) assert.ok(lives(), `the process of ${pod.uid} was killed`);
  }

  /** A worker: what fails is tried again by a later step, or at the end. */
  async #sync(pod: DesiredPod, isWanted: boolean): Promise<void> {
    if (isWanted) this.wanted.add(pod);
    else {
      this.wanted.delete(pod);
      this.running.delete(pod);
    }
    try {
      if (!isWanted) return await this.agent.podContainers.remove(pod.uid);
      await this.agent.podContainers.ensure(pod);
      if (!this.running.has(pod)) this.running.set(pod, await this.bench.occupy(this.pathOf(pod)));
    } catch {
      // The agent died, or the bus was lost.
    }
  }

  /** The faults end. A new agent makes what is wanted, and finds the rest. */
  async heal(): Promise<void> {
    this.#faults = [];
    await this.restart();
    for (const pod of this.wanted) await this.#sync(pod, true);
    await this.agent.clock.advance(60_000);
    for (const component of this.agent.components) await component.stop();
  }

  check(): void {
    const root = kubepodsCgroup('/conformance');
    const tiers = (['Burstable', 'BestEffort'] as const).map((qos) => qosCgroup('/conformance', qos));
    const names = [root, ...tiers, ...[...this.wanted].map((pod) => podCgroup('/conformance', podQos(pod), pod.uid))];
    const paths = names.map((name) => cgroupPath(name, this.#driver));
    const found = [...this.bench.memory.groups.keys()].filter((path) => /kubepods/.test(path));
    const groups = found.filter((path) => !path.endsWith('/inside'));
    assert.deepEqual(groups.toSorted(), paths.toSorted());
    if (this.#driver === 'systemd') {
      const { slices, inactive } = this.bench.systemd;
      const units = [...slices.keys(), ...inactive.keys()].filter((unit) => unit !== 'conformance.slice');
      assert.deepEqual(units.toSorted(), names.map(sliceUnit).toSorted());
    }
    for (const pod of this.wanted) {
      const values = podCgroupValues(pod, podCgroupSettings(this.settings));
      for (const { controller, file, value } of cgroupSettings(values, this.#version)) {
        assert.equal(this.bench.read(this.pathOf(pod), controller, file), value, `${file} of ${pod.uid}`);
      }
    }
  }
}

for (const version of [1, 2] as const) {
  for (const driver of ['cgroupfs', 'systemd'] as const) {
    test(`${driver} on version ${version}: nothing leaks, no value is wrong, no running pod is touched`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const world = new World(version, driver);
          await world.restart();
          for (const each of steps) await world.run(each);
          await world.heal();
          world.check();
        }),
        { numRuns: 150 },
      );
    });
  }
}
