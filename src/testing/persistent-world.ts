import { podPaths } from '../model/pod-paths.ts';
import {
  csi,
  hostPath,
  localVolume,
  nfs,
  ScratchFolders,
  emptyDir,
  SubPaths,
  VolumeClaims,
  KeyedMutex,
  type VolumeManager,
  type CsiVolumes,
  type VolumePlugin,
} from '../volumes/index.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { memoryMountPrograms, memoryVolumeHost } from './memory-volume-host.ts';
import { MemoryClaims } from './persistent-volumes.ts';
import { aVolumeManager, noCsiVolumes } from './volume-manager.ts';

interface PersistentWorldOptions {
  readonly cluster?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly csi?: CsiVolumes;
}

/** A node whose pods claim volumes: a disk in memory, an API server's claims, and an agent that can be started anew. */
export function persistentWorld({ cluster = true, labels = {}, ...more }: PersistentWorldOptions = {}) {
  const clock = new FakeClock();
  const files = new MemoryFiles();
  const api = new MemoryClaims();
  const programs = memoryMountPrograms(files);
  const events: string[] = [];
  const woken: number[] = [];
  const host = memoryVolumeHost(files);
  const paths = podPaths('/k', '/logs');
  const record = (_: unknown, event: { readonly type: string; readonly reason: string; readonly message: string }) =>
    void events.push(`${event.type} ${event.reason}: ${event.message}`);
  const kinds = (): readonly VolumePlugin[] => [
    emptyDir({
      scratch: new ScratchFolders(host, paths),
      clock,
      paths: host.paths,
      events: { record },
      memory: () => ({ allocatable: {}, noSwap: true }),
    }),
    hostPath({ paths: host.paths }),
    localVolume({ clock, host, paths, programs, events: { record }, rootDir: '/k' }),
    nfs({ clock, host, paths, programs, mutex: new KeyedMutex() }),
    csi(more.csi ?? noCsiVolumes, noCsiVolumes),
  ];
  /** An agent as it is after a start: it knows what is on disk and nothing else. */
  const start = (): VolumeManager => {
    const log = new MemoryLog();
    return aVolumeManager({
      clock,
      log,
      host,
      paths,
      plugins: kinds(),
      ...(cluster && { claims: new VolumeClaims({ api, nodeLabels: () => labels }) }),
      subPaths: new SubPaths({ log, host, paths }),
      events: { record },
      wake: () => void woken.push(clock.monotonic()),
    });
  };
  return { clock, files, api, programs, events, woken, host, paths, start };
}
