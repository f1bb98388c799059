import { noCalls } from '../../../../src/base/calls.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { connectCri, type Cri } from '../../../../src/cri/index.ts';
import {
  ContainerState,
  ContainerStatusRequest,
  ListContainersRequest,
  ListPodSandboxRequest,
  PodSandboxState,
  PodSandboxStatusRequest,
} from '../../../../src/gen/cri/api.ts';
import { mountsAtOrBelow, parseMountInfo, readMountInfo } from '../../../../src/host/mountinfo.ts';
import { clock } from '../../../support/real-wait.ts';

/** One sandbox or container of the runtime. */
export interface Held {
  readonly id: string;
  /** `namespace/pod`, and for a container its name behind. */
  readonly owner: string;
  readonly podUid: string;
  readonly attempt: number;
  readonly running: boolean;
}

/** What a program in a container sees of its volumes. */
export interface Inside {
  /** Mount points with the numbers that the kernel gave them: a mount that is made again gets another one. */
  readonly mounts: readonly string[];
  /** Path → what is there: kind, mode, owner, and for a file what is in it. */
  readonly files: ReadonlyMap<string, string>;
}

/** Looks at a node from below, past its agent. */
export class NodeLook {
  readonly cri: Cri;
  readonly #podsFolder: string;

  constructor(endpoint: string, podsFolder: string) {
    this.cri = connectCri({ calls: noCalls, endpoint, clock, log: silentLog, timeouts: { requestMs: 120_000 } });
    this.#podsFolder = podsFolder;
  }

  close(): void {
    this.cri.close();
  }

  async containers(): Promise<readonly Held[]> {
    const { containers } = await this.cri.listContainers(ListContainersRequest.fromPartial({}));
    return containers.map(({ id, labels, metadata, state }) => ({
      id,
      owner: `${labels['io.kubernetes.pod.namespace']}/${labels['io.kubernetes.pod.name']}/${metadata?.name}`,
      podUid: labels['io.kubernetes.pod.uid'] ?? '',
      attempt: metadata?.attempt ?? 0,
      running: state === ContainerState.CONTAINER_RUNNING,
    }));
  }

  async sandboxes(): Promise<readonly Held[]> {
    const { items } = await this.cri.listPodSandbox(ListPodSandboxRequest.fromPartial({}));
    return items.map(({ id, metadata, state }) => ({
      id,
      owner: `${metadata?.namespace}/${metadata?.name}`,
      podUid: metadata?.uid ?? '',
      attempt: metadata?.attempt ?? 0,
      running: state === PodSandboxState.SANDBOX_READY,
    }));
  }

  /** Mounts in the folders of pods, as the machine sees them. */
  mounts(): readonly string[] {
    return mountsAtOrBelow(readMountInfo(), this.#podsFolder)
      .map(({ id, mountPoint, fsType, device, root }) => `${mountPoint} ${fsType} ${device} ${root} #${id}`)
      .sort();
  }

  /** What a command in a container says; it must succeed. */
  async exec(containerId: string, ...cmd: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.cri.execSync({ containerId, cmd: [...cmd], timeout: 60n });
    if (exitCode !== 0) throw new Error(`${cmd.join(' ')} ended with ${exitCode}: ${Buffer.from(stderr).toString()}`);
    return Buffer.from(stdout).toString();
  }

  /** Everything that is mounted into a container out of the node's own folders. */
  async inside(containerId: string): Promise<Inside> {
    const seen = parseMountInfo(await this.exec(containerId, 'cat', '/proc/self/mountinfo')).filter(({ mountPoint }) =>
      /^\/(v\/|part|etc\/hosts|dev\/termination-log|var\/run)/.test(mountPoint),
    );
    const points = seen.map(({ mountPoint }) => mountPoint);
    if (points.length === 0) return { mounts: [], files: new Map() };
    const script = 'find "$@" -exec stat -c \'%F %a %u:%g|%N\' {} +; echo; find "$@" -follow -type f -exec md5sum {} +';
    const [facts = '', sums = ''] = (await this.exec(containerId, 'sh', '-c', script, 'sh', ...points)).split('\n\n');
    const described = facts.split('\n').map((line): [string, string] => {
      const [kind = '', name = ''] = line.split('|');
      const [path = '', target] = name.replaceAll("'", '').split(' -> ');
      return [path, target === undefined ? kind : `${kind} -> ${target}`];
    });
    const summed = sums
      .split('\n')
      .filter((line) => line !== '')
      .map((line): [string, string] => [`${line.slice(34)} (content)`, line.slice(0, 32)]);
    // What is written anew goes to a folder with a name by the clock; where the link to it leads shows that.
    const files = new Map([...described, ...summed].filter(([path]) => !/\/\.\.\d/.test(path)));
    return {
      mounts: seen.map(
        ({ id, mountPoint, fsType, device, root }) => `${mountPoint} ${fsType} ${device} ${root} #${id}`,
      ),
      files,
    };
  }

  /** All that the runtime tells of a container: its answer, the request it was made by and what it became. */
  async inspectContainer(id: string): Promise<unknown> {
    const request = ContainerStatusRequest.fromPartial({ containerId: id, verbose: true });
    const { status, info } = await this.cri.containerStatus(request);
    return plain({ status, ...(JSON.parse(info['info'] ?? '{}') as object) });
  }

  async inspectSandbox(id: string): Promise<unknown> {
    const request = PodSandboxStatusRequest.fromPartial({ podSandboxId: id, verbose: true });
    const { status, info } = await this.cri.podSandboxStatus(request);
    return plain({ status, ...(JSON.parse(info['info'] ?? '{}') as object) });
  }
}

/** Without the numbers that JSON does not know. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part)));
}
