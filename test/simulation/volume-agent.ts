import { silentLog } from '../../src/base/log.ts';
import type { PodUid } from '../../src/base/ids.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import type { NodeFacts } from '../../src/model/runtime-settings.ts';
import { podPaths } from '../../src/model/pod-paths.ts';
import { PodDirectories } from '../../src/pods/directories/index.ts';
import { computeSubPaths } from '../../src/pods/runtime/compute-mounts.ts';
import { CsiFileVolumes } from '../../src/volumes/csi/index.ts';
import {
  configMap,
  csi,
  downwardApi,
  emptyDir,
  hostPath,
  localVolume,
  nfs,
  noTokens,
  noTrust,
  KeyedMutex,
  projected,
  ScratchFolders,
  secret,
  SubPaths,
  VolumeClaims,
  type VolumeManager,
  WrittenVolumes,
} from '../../src/volumes/index.ts';
import { completeConfigMap, type StandaloneObject } from '../../src/model/standalone-object.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { aVolumeManager, noCsiVolumes } from '../../src/testing/volume-manager.ts';
import type { SimDisk } from './disk/sim-disk.ts';
import { simMountPrograms, simVolumeHost } from './disk/volume-faces.ts';
import { lifeFiles, lifeMountPrograms, lifeVolumeHost } from './life-disk.ts';
import type { Life } from './life.ts';
import type { SimDriver } from './sim-driver.ts';
import type { Storage } from './storage.ts';

const rootDir = '/var/lib/kubelet';
const never = new AbortController().signal;

/** A container's volumes as they are on the machine. */
type Shows = readonly { readonly containerPath: string; readonly hostPath: string }[];

const node: NodeFacts = {
  memoryCapacityBytes: 8n << 30n,
  swapCapacityBytes: 0n,
  allocatable: { cpu: '2', memory: '8Gi', 'ephemeral-storage': '100Gi' },
  hugePageSizes: ['2MB'],
  thermalThrottlePaths: [],
};

/** The part of an agent that cares for pods' volumes and directories, in one life of it. */
export class VolumeAgent {
  readonly manager: VolumeManager;
  readonly directories: PodDirectories;
  readonly #subPaths: SubPaths;
  readonly #drivers: CsiFileVolumes;

  constructor(number: number, life: Life, disk: SimDisk, storage: Storage, driver: SimDriver) {
    const { clock } = life;
    const log = silentLog;
    const host = lifeVolumeHost(life, simVolumeHost(disk));
    const programs = lifeMountPrograms(life, simMountPrograms(disk, storage.sources));
    const paths = podPaths(rootDir, '/var/log/pods');
    const events = { record: () => {} };
    const memory = () => ({ allocatable: node.allocatable, noSwap: true });
    const facts = { node, nodeName: 'node-1', hostIps: () => ['192.0.2.1'] };
    const random = seededRandom(number);
    const scratch = new ScratchFolders(host, paths);
    const written = new WrittenVolumes({ clock, random, host, scratch, memory, events });
    const find = (kind: StandaloneObject['kind']) => storage.objects().find((object) => object.kind === kind)?.object;
    const objects = { configMap: () => completeConfigMap(find('ConfigMap') ?? {}), secret: () => find('Secret') };
    this.#drivers = new CsiFileVolumes({
      clock,
      log,
      files: lifeFiles(life, disk),
      mounts: host.mounts,
      hostPaths: host.paths,
      podPaths: paths,
      rootDir,
      nodeName: 'node-1',
      drivers: driver.found(life),
      secrets: { get: async () => ({}) },
      events,
      programs,
      tokens: noTokens,
      hasSeLinux: false,
    });
    this.#subPaths = new SubPaths({ log, host, paths });
    this.manager = aVolumeManager({
      clock,
      log,
      host,
      paths,
      plugins: [
        emptyDir({ clock, scratch, paths: host.paths, memory, events }),
        hostPath({ paths: host.paths }),
        configMap(written, objects),
        secret(written, objects),
        downwardApi(written, facts),
        projected({ written, objects, facts, tokens: noTokens, trust: noTrust }),
        localVolume({ clock, host, paths, programs, events, rootDir }),
        nfs({ clock, host, paths, programs, mutex: new KeyedMutex() }),
        csi(this.#drivers, noCsiVolumes),
      ],
      claims: new VolumeClaims({
        api: {
          get: (resource, object) => life.through('get', object.name, () => storage.claims.get(resource, object)),
        },
        nodeLabels: () => ({}),
      }),
      subPaths: this.#subPaths,
      events,
      wake: () => {},
    });
    this.directories = new PodDirectories({
      files: lifeFiles(life, disk),
      random,
      paths,
      beforeRemoval: (uid) => this.manager.tearDown(uid),
      onRemoved: () => {},
    });
  }

  start(): Promise<void> {
    return this.#drivers.start();
  }

  async mount(pod: DesiredPod): Promise<void> {
    await this.directories.prepare(pod.uid);
    await this.manager.mount(pod, never);
  }

  /** Binds the parts that a container gets, and answers all that it will see. */
  async show(pod: DesiredPod, name: string): Promise<Shows> {
    const { uid, spec } = pod;
    const container = [...(spec.initContainers ?? []), ...spec.containers].find((other) => other.name === name);
    if (container === undefined) throw new Error(`no container ${name}`);
    const volumes = this.manager.mounted(uid);
    const parts = computeSubPaths({ pod, container, volumes, env: [], rootDir });
    if (!Array.isArray(parts)) throw new Error(JSON.stringify(parts));
    for (const { volumeName: mountName, volumePath, subPath, values, target } of parts) {
      await this.#subPaths.bind(uid, { mountName, container: name, volumePath, subPath, values, target });
    }
    return (container.volumeMounts ?? []).map(({ name: volume, mountPath, subPath }, index) => ({
      containerPath: mountPath,
      hostPath:
        subPath === undefined
          ? (volumes.get(volume)?.hostPath ?? '')
          : `${rootDir}/pods/${uid}/volume-subpaths/${volumes.get(volume)?.innerName ?? volume}/${name}/${index}`,
    }));
  }

  /** Nothing of the pod is to be left: as after its end, or as of a pod that nobody knows. */
  async remove(uid: PodUid): Promise<void> {
    await this.directories.remove(uid);
  }
}
