import { noCalls } from '../base/calls.ts';
import type { CSIDriver, CSIPersistentVolumeSource, PersistentVolumeSpec, Volume } from '../gen/kubernetes/types.ts';
import type { OpenRpc } from '../base/rpc.ts';
import type { TubeletError } from '../base/errors.ts';
import type { TokenSpec } from '../model/token-spec.ts';
import { podPaths } from '../model/pod-paths.ts';
import { attachableName, attachmentName } from '../volumes/csi/volume-names.ts';
import { DriverClient } from '../volumes/csi/driver-client.ts';
import { notRegistered } from '../volumes/csi/driver-errors.ts';
import { AttachWait, CsiFileVolumes, type CsiFileVolumesDeps } from '../volumes/csi/index.ts';
import { csi, SubPaths, VolumeClaims, type VolumeManager } from '../volumes/index.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeCsiDriver, type CsiTargets, type FakeCsiDriverOptions } from './fake-csi-driver.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { memoryMountPrograms, memoryVolumeHost } from './memory-volume-host.ts';
import { MemoryClaims } from './persistent-volumes.ts';
import { aVolumeManager, noCsiVolumes } from './volume-manager.ts';

interface CsiWorldOptions {
  readonly capabilities?: FakeCsiDriverOptions['capabilities'];
  /** The spec of the driver's CSIDriver object; null: none. */
  readonly object?: CSIDriver['spec'] | null;
  readonly cluster?: boolean;
  readonly hasSeLinux?: boolean;
  readonly expander?: CsiFileVolumesDeps['expander'];
}

export const csiDriverName = 'fake.csi.example.com';
const nodeName = 'node-1';

/**
 * A node with a storage driver: a disk in memory on which the driver's volumes are mounted, an API server's claims, and an
 * agent that can be restarted. Every call to the driver runs the disk's `fault` first, and again when it is answered.
 */
export function csiWorld(options: CsiWorldOptions = {}) {
  const clock = new FakeClock();
  const files = new MemoryFiles();
  const api = new MemoryClaims();
  const log = new MemoryLog();
  const driver = new FakeCsiDriver({
    clock,
    targets: memoryTargets(files),
    ...(options.capabilities && { capabilities: options.capabilities }),
  });
  const events: string[] = [];
  const woken: string[] = [];
  /** Codes with which the driver refuses calls in the wrong order. */
  const broken: string[] = [];
  const state = {
    away: false,
    synced: true,
    object: options.object === undefined ? { attachRequired: false } : options.object,
    inUse: new Set<string>(),
    attached: new Set<string>(),
    secrets: new Map<string, Readonly<Record<string, string>>>(),
    tokens: [] as TokenSpec[],
  };
  files.append('/csi/precious', 'data');
  const host = memoryVolumeHost(files);
  const paths = podPaths('/k', '/logs');
  const open: OpenRpc = (path, onLost) => {
    const channel = driver.open(path, onLost);
    return {
      ...channel,
      async call(method, request, how) {
        files.fault('call', method.path);
        try {
          const answer = await channel.call(method, request, how);
          files.fault('answer', method.path);
          return answer;
        } catch (error) {
          const { code, message } = error as TubeletError;
          if (code === 'FailedPrecondition' || code === 'AlreadyExists') broken.push(message);
          throw error;
        }
      },
    };
  };
  const attachments = new AttachWait({
    clock,
    api,
    nodeName,
    node: { isReportedInUse: (name) => state.inUse.has(name), isAttached: (name) => state.attached.has(name) },
  });

  /** The agent's CSI volumes, as after a restart. */
  const volumes = (): CsiFileVolumes => {
    const client = new DriverClient({
      calls: noCalls,
      clock,
      open,
      called: () => {},
      name: csiDriverName,
      endpoint: '/csi.sock',
    });
    return new CsiFileVolumes({
      clock,
      log,
      files,
      mounts: host.mounts,
      programs: memoryMountPrograms(files),
      hostPaths: host.paths,
      podPaths: paths,
      rootDir: '/k',
      nodeName,
      drivers: {
        find(name) {
          if (state.away || name !== csiDriverName) throw notRegistered(name);
          return client;
        },
      },
      ...((options.cluster ?? true) && {
        cluster: {
          objects: {
            get(name) {
              if (!state.synced) throw notSynced();
              return state.object === null ? undefined : { metadata: { name }, spec: state.object };
            },
          },
          attachments,
        },
      }),
      secrets: {
        async get(namespace, name) {
          const found = state.secrets.get(`${namespace}/${name}`);
          if (found === undefined) throw new Error(`secrets "${name}" not found`);
          return found;
        },
      },
      tokens: {
        async get(spec) {
          state.tokens.push(spec);
          return { value: `token-${state.tokens.length}`, expiresAtMs: clock.now() + 3_600_000 };
        },
      },
      events: { record: (_, { reason, message }) => void events.push(`${reason}: ${message}`) },
      expander: options.expander,
      hasSeLinux: options.hasSeLinux ?? false,
    });
  };

  const manager = (service: CsiFileVolumes = volumes()): VolumeManager =>
    aVolumeManager({
      clock,
      log,
      host,
      paths,
      plugins: [csi(service, noCsiVolumes)],
      claims: new VolumeClaims({ api, nodeLabels: () => ({}) }),
      subPaths: new SubPaths({ log, host, paths }),
      events: { record: (_, { reason, message }) => void events.push(`${reason}: ${message}`) },
      wake: (uid) => void woken.push(uid),
    });

  /** A claim of that name to a volume of the driver. */
  const claim = (
    name: string,
    source: Partial<CSIPersistentVolumeSource> = {},
    spec: Partial<PersistentVolumeSpec> = {},
  ): Volume => {
    const csiSource = { driver: csiDriverName, volumeHandle: `handle-${name}`, fsType: 'ext4', ...source };
    api.put(name, { csi: csiSource, ...spec });
    return { name, persistentVolumeClaim: { claimName: name } };
  };

  /** A controller attaches the claim's volume. */
  const attach = (name: string, status: object = { attached: true }, metadata: object = {}): void => {
    const volume = { driver: csiDriverName, handle: `handle-${name}` };
    const attachment = attachmentName(volume, nodeName);
    state.inUse.add(attachableName(volume));
    state.attached.add(attachableName(volume));
    const object = { metadata: { name: attachment, ...metadata }, status };
    api.objects.set(`volumeattachments/${attachment}`, object);
  };

  /** What is left of volumes on the disk: nothing but folders for many of them, at the end of a test. */
  const remains = (): readonly string[] =>
    [...files.entries.keys()].filter((path) =>
      /^\/k\/(?:pods\/.*~csi|plugins\/kubernetes.io\/csi\/[^/]+)\//.test(path),
    );

  return {
    clock,
    files,
    api,
    log,
    driver,
    events,
    woken,
    broken,
    state,
    host,
    paths,
    attachments,
    volumes,
    manager,
    claim,
    attach,
    remains,
  };
}

/** A target is a mount on the disk in memory: a removal through it would remove the volume's data. */
function memoryTargets(files: MemoryFiles): CsiTargets {
  return {
    async make(path) {
      files.entries.set(path, { mode: 0o755 });
      files.mounts.set(path, ['bind /csi']);
    },
    async remove(path) {
      files.mounts.delete(path);
      files.entries.delete(path);
    },
  };
}

function notSynced(): Error {
  return new Error('CSIDrivers has not been synced yet');
}
