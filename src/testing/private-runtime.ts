import { existsSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { claimRoot } from '../up/claim-root.ts';
import { endProcess } from '../up/detached-process.ts';
import { debianContainerd } from '../up/containerd-software.ts';
import {
  cgroupRootOf,
  chooseSnapshotter,
  importStarterImages,
  prepareNetwork,
  startRuntime,
  type RuntimeDeps,
} from '../up/private-runtime.ts';
import { neededPackages } from '../up/programs.ts';
import { removeEverything } from '../up/remove-everything.ts';
import { runCommand } from '../up/run-command.ts';
import type { RuntimeSetup, RuntimeSoftware } from '../up/runtime-software.ts';
import { starterImages } from '../up/starter-images.ts';

interface PrivateRuntimeOptions {
  /** Folder for everything that is kept; made when missing, refused when it holds something else. */
  readonly root: string;
  /** What log lines call it. */
  readonly name?: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Debian's containerd unless another is given. */
  readonly software?: RuntimeSoftware;
  readonly cgroupDriver?: RuntimeSetup['cgroupDriver'];
}

export interface PrivateRuntime {
  /** `unix://` address of its CRI services. */
  readonly endpoint: string;
  readonly root: string;
  /** Cgroup made for its pods in every hierarchy. */
  readonly cgroupRoot: string;
  readonly images: { readonly pause: string; readonly busybox: string };
  readonly bridge: string;
  readonly subnet: string;
  readonly pid: number;
  /** Ends the runtime alone: pods run on, data stays, and a new start in the same root takes up both. */
  stop(): Promise<void>;
  /** Ends and removes everything. */
  destroy(): Promise<void>;
}

const stopPatienceMs = 10_000;

/** Starts a container runtime of our own, as `tubelet up` does, without an agent. Any number of them can live side by side, each in its own root. */
export async function startPrivateRuntime(options: PrivateRuntimeOptions): Promise<PrivateRuntime> {
  const missing = neededPackages.filter((entry) => !existsSync(entry.file)).map((entry) => entry.name);
  if (missing.length > 0) throw new TubeletError('unavailable', `Debian packages are missing: ${missing.join(', ')}`);
  const { software = debianContainerd, cgroupDriver = 'cgroupfs' } = options;
  const claimed = await claimRoot(options.root, false);
  const { names, keeper } = claimed;
  const log = options.log.with({ runtime: options.name ?? names.id });
  const deps: RuntimeDeps = { log, clock: options.clock, run: runCommand, signal: options.signal };
  const destroy = async (): Promise<void> => void (await removeEverything(names, deps, 0));
  try {
    const subnet = await prepareNetwork(claimed, deps);
    const setup = { snapshotter: await chooseSnapshotter(names.root, deps), cgroupDriver };
    const runtime = await startRuntime(claimed, software, setup, deps);
    await importStarterImages(claimed, software, setup, deps);
    return {
      endpoint: `unix://${names.socket}`,
      root: names.root,
      cgroupRoot: cgroupRootOf(names, cgroupDriver),
      images: starterImages,
      bridge: names.bridge,
      subnet: subnet.cidr,
      pid: runtime.pid,
      stop: async () => {
        await endProcess(runtime, options.clock, stopPatienceMs);
        await keeper.update((journal) => ({ ...journal, owner: undefined }));
      },
      destroy,
    };
  } catch (error) {
    // What was there before the failure may hold pods that someone wants back.
    if (!claimed.abandoned) await destroy();
    throw error;
  }
}
