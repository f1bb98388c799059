import { isTerminalPhase } from '../../src/model/reasons.ts';
import type { SimNode } from './node.ts';
import type { PodPlan } from './pod-plans.ts';
import { contentsProblem, csiDriver, hiddenName, kindOf, type VolumeKind } from './storage.ts';

const kubelet = '/var/lib/kubelet';

/** What keeps volumes and mounts from being as the pods want them; empty when all is right. */
export function unsettledVolumes(node: SimNode): string[] {
  const alive = [...node.manifests.values()].filter(
    ({ uid }) => node.mayRun(uid) && !isTerminalPhase(node.agent.stores?.statuses.get(uid)?.phase),
  );
  return [
    ...strayMounts(node, alive),
    ...unsettledDriver(node, alive),
    ...alive.flatMap((plan) => unsettledPod(node, plan)),
  ];
}

/** Mounts of the agent that no pod wants. Parts stay bound for as long as their pod is there. */
function strayMounts(node: SimNode, alive: readonly PodPlan[]): string[] {
  const wanted = new Set(alive.flatMap((plan) => mountPoints(plan).map(({ path }) => path)));
  const parts = alive.map(({ uid }) => `${kubelet}/pods/${uid}/volume-subpaths/`);
  const isDisk = (path: string): boolean =>
    path === `${kubelet}/plugins/kubernetes.io/local-volume/mounts/pv-disk` &&
    alive.some(({ volumes }) => volumes.includes('device'));
  const ours = node.disk.table.all().filter(({ path }) => path.startsWith(`${kubelet}/`));
  const stray = ours.filter(
    ({ path }) => !wanted.has(path) && !isDisk(path) && !parts.some((part) => path.startsWith(part)),
  );
  return stray.map(({ path }) => `${path} is still mounted`);
}

/** The driver has what pods have of it, and so has its folder. An inline volume is of one pod alone. */
function unsettledDriver({ driver, disk }: SimNode, alive: readonly PodPlan[]): string[] {
  const [shared, inline] = (['driven', 'inline'] as const).map(
    (kind) => alive.filter(({ volumes }) => volumes.includes(kind)).length,
  );
  const wanted = Math.min(shared ?? 0, 1);
  const used = driver.fake.volumes.inUse().length;
  const staged = disk.names(`${kubelet}/plugins/kubernetes.io/csi/${csiDriver}`).length;
  return [
    ...(used === wanted + (inline ?? 0)
      ? []
      : [`the driver has ${used} volumes in use, not ${wanted + (inline ?? 0)}`]),
    ...(staged === wanted ? [] : [`${staged} volumes are staged, not ${wanted}`]),
  ];
}

function unsettledPod(node: SimNode, plan: PodPlan): string[] {
  const { disk, storage } = node;
  const missing = mountPoints(plan).filter(
    ({ path }) => disk.table.all().filter((mount) => mount.path === path).length !== 1,
  );
  const old = plan.volumes.flatMap((kind) => {
    if (kindOf(kind).keeps !== undefined) return [];
    const folder = disk.table.walk(folderOf(plan, kind))?.inode;
    const problem = folder === undefined ? 'it is not there' : contentsProblem(kind, folder, storage.version);
    const hidden = folder && hiddenName(folder);
    return [
      ...(problem === undefined ? [] : [`${kind} of ${plan.uid}: ${problem}`]),
      ...(hidden === undefined ? [] : [`${kind} of ${plan.uid}: ${hidden} is not to be seen`]),
    ];
  });
  return [...missing.map(({ path }) => `${path} is not mounted`), ...old];
}

function mountPoints(plan: PodPlan): readonly { readonly path: string }[] {
  return plan.volumes.flatMap((kind) => {
    const at = kindOf(kind).mountedAt?.(plan.name);
    return at === undefined ? [] : [{ path: `${kubelet}/pods/${plan.uid}/volumes/${at}` }];
  });
}

const folderOf = ({ uid, name }: PodPlan, kind: VolumeKind): string =>
  `${kubelet}/pods/${uid}/volumes/${kindOf(kind).mountedAt?.(name) ?? 'kubernetes.io~configmap/config'}`;
