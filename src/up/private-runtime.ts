import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { makeCgroup } from './cgroups.ts';
import type { ClaimedRoot } from './claim-root.ts';
import { cniConfig } from './cni-config.ts';
import { waitForCri } from './cri-control.ts';
import { endProcess, spawnDetached, tailOf } from './detached-process.ts';
import { hasForeignHostPorts } from './iptables-plan.ts';
import type { InstanceNames } from './names.ts';
import { findFreeSubnet, makeBridge } from './network.ts';
import { savedIptables, sharedFolders } from './observe-system.ts';
import type { RunCommand } from './ports.ts';
import { isAlive, type ProcessIdentity } from './process-table.ts';
import { programs } from './programs.ts';
import type { RuntimeSetup, RuntimeSoftware, Snapshotter } from './runtime-software.ts';
import { makeStarterImages, starterImages } from './starter-images.ts';
import { subnetFromCidr, type Subnet } from './subnet.ts';

export interface RuntimeDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly run: RunCommand;
  readonly signal?: AbortSignal | undefined;
}

const readyTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;

/** Bridge and network configuration. */
export async function prepareNetwork({ names, keeper }: ClaimedRoot, deps: RuntimeDeps): Promise<Subnet> {
  const before = keeper.journal.subnet === undefined ? undefined : subnetFromCidr(keeper.journal.subnet);
  const subnet = before ?? (await findFreeSubnet(names.id, deps.run));
  if (before === undefined) {
    const foreignHostPorts = hasForeignHostPorts(await savedIptables(deps.run));
    const absentBefore = sharedFolders.filter((path) => !existsSync(path));
    await keeper.update((journal) => ({ ...journal, subnet: subnet.cidr, foreignHostPorts, absentBefore }));
  }
  await mkdir(names.cniConfDir, { recursive: true });
  await writeFile(join(names.cniConfDir, '10-tubelet.conflist'), cniConfig(names, subnet.cidr));
  await makeBridge(names, subnet, deps.run);
  return subnet;
}

/** Returns when its CRI services answer. A runtime that an earlier owner left is replaced; its pods keep running. */
export async function startRuntime(
  { names, keeper }: ClaimedRoot,
  software: RuntimeSoftware,
  setup: RuntimeSetup,
  deps: RuntimeDeps,
): Promise<ProcessIdentity> {
  const left = keeper.journal.processes.containerd;
  if (left !== undefined) await endProcess(left, deps.clock, stopTimeoutMs);
  await makeCgroup(cgroupRootOf(names, setup.cgroupDriver));
  for (const folder of [names.runDir, names.containerdData]) await mkdir(folder, { recursive: true, mode: 0o711 });
  for (const { path, text, mode } of software.files(names, setup)) await writeFile(path, text, { mode: mode ?? 0o644 });
  // An entry without a process could match an unrelated process later.
  await keeper.update((journal) => ({ ...journal, processes: without(journal.processes, 'containerd') }));
  const { identity } = await spawnDetached({
    program: software.program,
    args: software.args(names),
    logFile: names.containerdLog,
  });
  await keeper.update((journal) => ({ ...journal, processes: { ...journal.processes, containerd: identity } }));
  const early = `${software.name} ended while it was starting`;
  let ended = false;
  try {
    await waitForCri(names.socket, [], {
      clock: deps.clock,
      signal: deps.signal,
      timeoutMs: readyTimeoutMs,
      check: () => {
        ended = !isAlive(identity);
        if (ended) throw new TubeletError('unavailable', early);
      },
    });
  } catch (error) {
    if (!ended) throw error;
    const cause = new TubeletError('unavailable', await tailOf(names.containerdLog));
    throw new TubeletError('unavailable', early, { cause });
  }
  deps.log.debug(1, 'Started the container runtime', {
    name: software.name,
    pid: identity.pid,
    socket: names.socket,
  });
  return identity;
}

/** The cgroup of an instance in every hierarchy. */
export function cgroupRootOf(names: InstanceNames, driver: RuntimeSetup['cgroupDriver']): string {
  return driver === 'systemd' ? names.cgroupSlice : names.cgroupRoot;
}

/** Makes the starter images and returns when the runtime knows them. */
export async function importStarterImages(
  { names }: ClaimedRoot,
  software: RuntimeSoftware,
  setup: RuntimeSetup,
  deps: RuntimeDeps,
): Promise<void> {
  for (const [index, { reference, archive }] of (await makeStarterImages(deps.run)).entries()) {
    const path = join(names.root, `image-${index}.tar`);
    await writeFile(path, archive);
    await software.importImage({ path, reference }, names, setup, deps.run, deps.signal);
    await rm(path);
  }
  const images = Object.values(starterImages);
  await waitForCri(names.socket, images, { clock: deps.clock, signal: deps.signal, timeoutMs: readyTimeoutMs });
}

/** Overlays do not work on every file system, for example not on an overlay; a try is the only reliable test. */
export async function chooseSnapshotter(root: string, deps: RuntimeDeps): Promise<Snapshotter> {
  const probe = join(root, 'overlay-probe');
  const folder = (name: string): string => join(probe, name);
  for (const name of ['lower', 'upper', 'work', 'merged']) await mkdir(folder(name), { recursive: true });
  const layers = `lowerdir=${folder('lower')},upperdir=${folder('upper')},workdir=${folder('work')}`;
  try {
    await deps.run(programs.mount, ['-t', 'overlay', '-o', layers, 'overlay', folder('merged')]);
    await deps.run(programs.umount, [folder('merged')]);
    return 'overlayfs';
  } catch (error) {
    deps.log.debug(1, 'Overlay mounts do not work here, layers are copied', { err: String(error) });
    return 'native';
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

function without<Value>(record: Readonly<Record<string, Value>>, key: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}
