import { join } from 'node:path';
import type { PodUid } from '../base/ids.ts';
import type { PodReference } from './pod-reference.ts';

/** The paths of a pod's files. The layout is the kubelet's, because other programs read it too. */
export interface PodPaths {
  /** The folder of all pods: `<root>/pods`. */
  readonly pods: string;
  pod(uid: PodUid): string;
  volumes(uid: PodUid): string;
  /** The folder of one volume of a kind, such as `kubernetes.io~empty-dir`. */
  volume(uid: PodUid, plugin: string, name: string): string;
  /** Links to the devices of block volumes, by kind and name as `volumes` has the others. */
  volumeDevices(uid: PodUid): string;
  plugins(uid: PodUid): string;
  /** Bind mounts of sub-paths of volumes, before they are mounted into containers. */
  subPaths(uid: PodUid): string;
  etcHosts(uid: PodUid): string;
  container(uid: PodUid, name: string): string;
  /** Of all logs. */
  readonly logs: string;
  podLogs(pod: PodReference): string;
}

export function podPaths(rootDir: string, podLogsDir: string): PodPaths {
  const pods = join(rootDir, 'pods');
  const pod = (uid: PodUid): string => join(pods, uid);
  return {
    pods,
    pod,
    volumes: (uid) => join(pod(uid), 'volumes'),
    volume: (uid, plugin, name) => join(pod(uid), 'volumes', plugin, name),
    volumeDevices: (uid) => join(pod(uid), 'volumeDevices'),
    plugins: (uid) => join(pod(uid), 'plugins'),
    subPaths: (uid) => join(pod(uid), 'volume-subpaths'),
    etcHosts: (uid) => join(pod(uid), 'etc-hosts'),
    container: (uid, name) => join(pod(uid), 'containers', name),
    logs: podLogsDir,
    podLogs: ({ namespace, name, uid }) => join(podLogsDir, `${namespace}_${name}_${uid}`),
  };
}

/** The uid in the name of a pod's log folder; undefined for any other folder. */
export function uidOfLogFolder(folder: string): string | undefined {
  return /^[^_]+_[^_]+_(?<uid>[^_]+)$/.exec(folder)?.groups?.['uid'];
}
