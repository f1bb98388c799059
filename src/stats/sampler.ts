import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { podUidOfCgroup } from '../model/cgroup-names.ts';
import { podFields } from '../model/pod-log.ts';
import type { CgroupUsage } from '../model/usage.ts';
import type { ContainerCgroups } from './container-cgroups.ts';
import { CpuRates } from './cpu-rates.ts';
import type { CgroupReader } from './ports.ts';
import {
  systemTargets,
  type CgroupLayout,
  type ContainerTarget,
  type PodTarget,
  type SystemTarget,
} from './targets.ts';
import { yieldBetweenChunks } from './yield-between-chunks.ts';

/** A cgroup at one moment, and how busy it was until then. */
export interface Sample {
  readonly usage: CgroupUsage;
  readonly nanoCores: number;
}

export interface ContainerSample extends Sample {
  readonly target: ContainerTarget;
}

export interface PodSample {
  readonly target: PodTarget;
  /** Undefined where pods have no cgroup of their own. */
  readonly own: Sample | undefined;
  readonly containers: readonly ContainerSample[];
}

export interface SystemSample extends Sample {
  readonly target: SystemTarget;
  readonly createdAt: number | undefined;
}

/** All that summaries and the page of resources are made of. */
export interface CoreSample {
  readonly at: number;
  readonly node: Sample | undefined;
  readonly system: readonly SystemSample[];
  readonly pods: readonly PodSample[];
}

interface SamplerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cgroups: CgroupReader;
  readonly targets: () => readonly PodTarget[];
  readonly cgroupLayout: CgroupLayout;
  readonly containerCgroups: ContainerCgroups;
}

/** A rate over more time than this is of the past, so that a request after it waits for a second reading. */
const maxRateMs = 120_000;
const secondReadingMs = 200;
/** About two milliseconds' worth of reading. */
const podsPerChunk = 32;

/** Reads the cgroups of the node and its pods, and remembers what their CPU rates need. */
export class Sampler {
  readonly #deps: SamplerDeps;
  readonly #rates = new CpuRates();

  constructor(deps: SamplerDeps) {
    this.#deps = deps;
  }

  /** Not to be called while a call is under way. */
  async sample(signal: AbortSignal): Promise<CoreSample> {
    const { clock } = this.#deps;
    const { roundAtMs } = this.#rates;
    if (roundAtMs === undefined || clock.monotonic() - roundAtMs > maxRateMs) {
      await this.#round(signal);
      await clock.sleep(secondReadingMs, signal);
    }
    return this.#round(signal);
  }

  async #round(signal: AbortSignal): Promise<CoreSample> {
    const { clock, cgroups, targets, cgroupLayout } = this.#deps;
    this.#rates.begin();
    const node = this.#read('/', undefined);
    const system = systemTargets(cgroupLayout).flatMap((target) => {
      const sample = this.#read(target.cgroup, undefined);
      return sample ? [{ target, createdAt: cgroups.createdAt(target.cgroup), ...sample }] : [];
    });
    const found: PodSample[] = [];
    const all = targets();
    for (let from = 0; from < all.length; from += podsPerChunk) {
      await yieldBetweenChunks(from, signal);
      for (const target of all.slice(from, from + podsPerChunk)) found.push(this.#readPod(target));
    }
    this.#rates.end(clock.monotonic());
    return { at: clock.now(), node, system, pods: found };
  }

  #readPod(target: PodTarget): PodSample {
    const { cgroup, sandbox } = target;
    const own = cgroup === undefined ? undefined : this.#read(cgroup, sandbox?.createdAt);
    const containers: ContainerSample[] = [];
    for (const container of target.containers) {
      const { id, createdAt } = container;
      const sample = this.#deps.containerCgroups.find(cgroup, id, this.#read, createdAt);
      if (sample !== undefined) {
        containers.push({ target: container, usage: sample.usage, nanoCores: sample.nanoCores });
      }
    }
    return { target, own, containers };
  }

  /** A cgroup that cannot be read is logged and left out, the others are read. */
  readonly #read = (path: string, createdAt: number | undefined): Sample | undefined => {
    const { clock, cgroups, log } = this.#deps;
    try {
      const usage = cgroups.read(path, 'core');
      if (usage === undefined) return undefined;
      const ageMs = createdAt === undefined ? undefined : usage.at - createdAt;
      const nanoCores = usage.cpu ? this.#rates.take(path, usage.cpu.totalNs, clock.monotonic(), ageMs) : 0;
      return { usage, nanoCores };
    } catch (error) {
      log.error(error, 'Cannot read the usage of a cgroup', {
        ...podFields({ uid: podUidOfCgroup(path) }),
        cgroup: path,
      });
      return undefined;
    }
  };
}
