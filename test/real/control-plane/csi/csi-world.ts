import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PersistentVolumeClaim } from '../../../../src/gen/kubernetes/types.ts';
import { readMountInfo } from '../../../../src/host/index.ts';
import { capabilityFor } from '../../../../src/testing/csi-conformance/index.ts';
import { until } from '../../../support/real-wait.ts';
import { ClusterView, type Namespace } from '../cluster-view.ts';
import { startControlPlane, type ControlPlane } from '../control-plane.ts';
import { joinNode, type AgentProgram, type JoinedNode } from '../join-node.ts';
import { apply } from '../metrics/metrics-server.ts';
import { Attacher } from './attacher.ts';
import { HostpathDriver, topologyKey } from './hostpath-driver.ts';
import { claimedVolume, csiPod, driverObject, mebibyte, quantity, storageClass, volumeNameOf } from './objects.ts';
import type { PodPlan } from './objects.ts';
import { Registrar } from './registrar.ts';

/** A driver with the one who introduces it. */
interface PlacedDriver {
  readonly hostpath: HostpathDriver;
  readonly registrar: Registrar;
}

export interface Claim {
  readonly name: string;
  readonly volumeName: string;
  readonly handle: string;
  readonly driver: HostpathDriver;
}

/** Over driver and agent: how long something may take on a machine that others use too. */
const patienceMs = 120_000;

/**
 * A cluster with one node and two CSI hostpath drivers on it: one whose volumes are attached first, and one whose volumes
 * are not, which also has volumes that come and go with pods. The test does what provisioner, attacher and resizer do.
 */
export class CsiWorld {
  readonly plane: ControlPlane;
  readonly node: JoinedNode;
  readonly view: ClusterView;
  readonly attached: PlacedDriver;
  readonly plain: PlacedDriver;
  readonly attacher: Attacher;

  private constructor(plane: ControlPlane, node: JoinedNode) {
    this.plane = plane;
    this.node = node;
    this.view = new ClusterView(plane);
    this.attached = this.#place('attached.csi.example.com', true);
    this.plain = this.#place('plain.csi.example.com', false);
    this.attacher = new Attacher(this.view, this.attached.hostpath);
  }

  static async start(agent: AgentProgram = 'tubelet'): Promise<CsiWorld> {
    const plane = await startControlPlane();
    let node: JoinedNode | undefined;
    let world: CsiWorld | undefined;
    try {
      // Figures of volumes are taken that often.
      node = await joinNode(plane, { agent, config: { volumeStatsAggPeriod: '2s' } });
      world = new CsiWorld(plane, node);
      await world.#begin();
      return world;
    } catch (error) {
      await world?.destroy();
      if (world === undefined) await node?.destroy();
      if (world === undefined) await plane.stop();
      throw error;
    }
  }

  get drivers(): readonly PlacedDriver[] {
    return [this.attached, this.plain];
  }

  async destroy(): Promise<void> {
    await this.attacher.stop();
    for (const { registrar } of this.drivers) await registrar.stop();
    this.view.close();
    await this.node.destroy();
    for (const { hostpath } of this.drivers) await hostpath.destroy();
    await this.plane.stop();
  }

  /** A volume that the driver has, and a claim to it, bound. */
  async claim(here: Namespace, name: string, driver: HostpathDriver, block = false): Promise<Claim> {
    const bytes = 8n * mebibyte;
    const made = await driver.createVolume(`${here.name}-${name}`, bytes, capabilityFor(block ? 'block' : 'mount'));
    const nodeLabel = { [topologyKey]: driver.nodeId };
    const plan = { name, namespace: here.name, driver: driver.name, handle: made.id, bytes, block, nodeLabel };
    await here.apply(...claimedVolume(plan));
    await this.claimWhen(here, name, 'is bound', ({ status }) => status?.phase === 'Bound');
    return { name, volumeName: volumeNameOf(plan), handle: made.id, driver };
  }

  /** The claim once it is as wanted. */
  claimWhen(
    here: Namespace,
    name: string,
    what: string,
    isSo: (claim: PersistentVolumeClaim) => boolean,
  ): Promise<PersistentVolumeClaim> {
    const get = (): Promise<PersistentVolumeClaim | undefined> => here.get('persistentvolumeclaims', name);
    const look = async (): Promise<PersistentVolumeClaim | false> => {
      const claim = await get();
      return claim !== undefined && isSo(claim) && claim;
    };
    return until(`claim ${name} ${what}`, look, { timeoutMs: patienceMs, state: get });
  }

  /** In the role of external-resizer, after somebody asked for more: the node's part is left to the node. */
  async grow(here: Namespace, { name, volumeName, handle, driver }: Claim, bytes: bigint): Promise<void> {
    const storage = quantity(bytes);
    const patch = (words: readonly string[], change: object): Promise<string> =>
      here.kubectl('patch', ...words, `--patch=${JSON.stringify(change)}`, '--type=merge');
    const claim = ['persistentvolumeclaim', name];
    await patch(claim, { spec: { resources: { requests: { storage } } } });
    await driver.controller.expandVolume(handle, bytes);
    await patch(['persistentvolume', volumeName], { spec: { capacity: { storage } } });
    await patch([...claim, '--subresource=status'], {
      status: {
        allocatedResources: { storage },
        allocatedResourceStatuses: { storage: 'NodeResizePending' },
        conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
      },
    });
  }

  /** Makes a pod, and returns when it is ready. */
  async runPod(here: Namespace, plan: Omit<PodPlan, 'image'>): Promise<string> {
    await this.makePod(here, plan);
    const pod = await here.podReady(plan.name);
    return pod.metadata?.uid ?? '';
  }

  async makePod(here: Namespace, plan: Omit<PodPlan, 'image'>): Promise<void> {
    await here.apply(csiPod({ ...plan, image: this.node.image }));
  }

  /** What a script says in the container of a pod. */
  async inPod(here: Namespace, pod: string, script: string): Promise<string> {
    const words = ['exec', pod, `--namespace=${here.name}`, '--', 'sh', '-c', script];
    return (await this.plane.ask(...words)).trim();
  }

  /** Asks for the removal of pods without waiting for it. */
  async removePods(here: Namespace, ...names: readonly string[]): Promise<void> {
    await here.kubectl('delete', 'pod', ...names, '--wait=false');
  }

  async podsGone(here: Namespace, ...names: readonly string[]): Promise<void> {
    await this.removePods(here, ...names);
    for (const name of names) await here.podGone(name);
  }

  /** Mount points of volumes of drivers, of pods and of staging. */
  mounts(): readonly string[] {
    const root = this.node.names.kubeletRoot;
    const points = readMountInfo().map(({ mountPoint }) => mountPoint);
    return points.filter((point) => point.startsWith(`${root}/`) && /csi/.test(point)).toSorted();
  }

  /** Files that volumes of drivers leave beside the pods, in words. */
  stagingFiles(): readonly string[] {
    const folder = join(this.node.names.kubeletRoot, 'plugins', 'kubernetes.io', 'csi');
    if (!existsSync(folder)) return [];
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    // The folders of drivers themselves may stay.
    const files = entries.filter((entry) => !entry.isDirectory() || /globalmount|^[0-9a-f]{64}$/.test(entry.name));
    return files.map((entry) => join(entry.parentPath, entry.name));
  }

  #place(name: string, attaches: boolean): PlacedDriver {
    const { kubeletRoot } = this.node.names;
    const hostpath = new HostpathDriver({
      name,
      nodeId: this.node.name,
      socketPath: join(kubeletRoot, 'plugins', name, 'csi.sock'),
      dataFolder: this.plane.file(`data-${name}`),
      attaches,
    });
    const words = (): string => this.node.agent.text.slice(-4_000);
    return { hostpath, registrar: new Registrar({ kubeletRoot, driver: name, endpoint: hostpath.socketPath, words }) };
  }

  async #begin(): Promise<void> {
    const [attached, plain] = [this.attached.hostpath.name, this.plain.hostpath.name];
    await apply(this.plane, [
      storageClass(attached, attached),
      storageClass(plain, plain),
      driverObject(attached, { attachRequired: true, fsGroupPolicy: 'File' }),
      driverObject(plain, {
        attachRequired: false,
        podInfoOnMount: true,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      }),
    ]);
    for (const { hostpath, registrar } of this.drivers) {
      await hostpath.start();
      await registrar.start();
    }
    for (const { registrar } of this.drivers) await registrar.registered();
    this.attacher.start();
  }
}
