import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { makeCgroup } from './cgroups.ts';
import type { ClaimedRoot } from './claim-root.ts';
import { cniConfig } from './cni-config.ts';
import { containerdConfig, type Snapshotter } from './containerd-config.ts';
import { waitForCri } from './cri-control.ts';
import { endProcess, spawnDetached, tailOf } from './detached-process.ts';
import { hasForeignHostPorts } from './iptables-plan.ts';
import { findFreeSubnet, makeBridge } from './network.ts';
import { savedIptables, sharedFolders } from './observe-system.ts';
import type { RunCommand } from './ports.ts';
import { isAlive, type ProcessIdentity } from './process-table.ts';
import { programs } from './programs.ts';
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

/** Bridge, network configuration and cgroup. */
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
  await makeCgroup(names.cgroupRoot);
  return subnet;
}

/** Returns when its CRI services answer. A containerd that an earlier owner left is replaced; its pods keep running. */
export async function startContainerd(
  { names, keeper }: ClaimedRoot,
  snapshotter: Snapshotter,
  deps: RuntimeDeps,
): Promise<ProcessIdentity> {
  const left = keeper.journal.processes.containerd;
  if (left !== undefined) await endProcess(left, deps.clock, stopTimeoutMs);
  for (const folder of [names.runDir, names.containerdData]) await mkdir(folder, { recursive: true, mode: 0o711 });
  await writeFile(names.containerdConfig, containerdConfig(names, snapshotter));
  // An entry without a process could match an unrelated process later.
  await keeper.update((journal) => ({ ...journal, processes: without(journal.processes, 'containerd') }));
  const { identity } = await spawnDetached({
    program: programs.containerd,
    args: ['--config', names.containerdConfig],
    logFile: names.containerdLog,
  });
  await keeper.update((journal) => ({ ...journal, processes: { ...journal.processes, containerd: identity } }));
  let ended = false;
  try {
    await waitForCri(names.socket, [], {
      clock: deps.clock,
      signal: deps.signal,
      timeoutMs: readyTimeoutMs,
      check: () => {
        ended = !isAlive(identity);
        if (ended) throw new TubeletError('unavailable', 'containerd ended while it was starting');
      },
    });
  } catch (error) {
    if (!ended) throw error;
    const cause = new TubeletError('unavailable', await tailOf(names.containerdLog));
    throw new TubeletError('unavailable', 'containerd ended while it was starting', { cause });
  }
  deps.log.debug(1, 'Started containerd', { pid: identity.pid, socket: names.socket });
  return identity;
}

/** Makes the starter images and returns when the runtime knows them. */
export async function importStarterImages(
  { names }: ClaimedRoot,
  snapshotter: Snapshotter,
  deps: RuntimeDeps,
): Promise<void> {
  for (const [index, archive] of (await makeStarterImages(deps.run)).entries()) {
    const path = join(names.root, `image-${index}.tar`);
    await writeFile(path, archive);
    const options = deps.signal === undefined ? {} : { signal: deps.signal };
    const args = ['--address', names.socket, '--namespace', 'k8s.io', 'images', 'import'];
    await deps.run(programs.ctr, [...args, '--snapshotter', snapshotter, path], options);
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
