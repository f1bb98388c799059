import { noCalls } from '../../src/base/calls.ts';
import { silentLog } from '../../src/base/log.ts';
import { connectCri, type Cri } from '../../src/cri/index.ts';
import {
  ContainerState,
  ListContainersRequest,
  ListPodSandboxRequest,
  PodSandboxState,
} from '../../src/gen/cri/api.ts';
import { clock, until } from './real-wait.ts';

export const nodeName = 'node-1';

/** A container of the runtime as tests look at it. */
export interface SeenContainer {
  readonly id: string;
  readonly name: string;
  readonly attempt: number;
  readonly running: boolean;
}

/** What a runtime has of a pod. Pods go by the name in their manifest; the node's name is added to a static pod's. */
export class RuntimeView {
  readonly #cri: Cri;

  constructor(endpoint: string) {
    // The runtime may be slow under load.
    this.#cri = connectCri({ calls: noCalls, endpoint, clock, log: silentLog, timeouts: { requestMs: 120_000 } });
  }

  async gone(name: string): Promise<void> {
    const left = async (): Promise<unknown[]> => [...(await this.sandboxes(name)), ...(await this.containers(name))];
    await until(`nothing is left of pod ${name}`, async () => (await left()).length === 0, { state: left });
  }

  async containers(pod: string): Promise<readonly SeenContainer[]> {
    const { containers } = await this.#cri.listContainers(ListContainersRequest.fromPartial({}));
    return containers
      .filter(({ labels }) => labels['io.kubernetes.pod.name'] === `${pod}-${nodeName}`)
      .map(({ id, metadata, state }) => ({
        id,
        name: metadata?.name ?? '',
        attempt: metadata?.attempt ?? 0,
        running: state === ContainerState.CONTAINER_RUNNING,
      }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Running containers by their names, each with its id. */
  async running(pod: string): Promise<ReadonlyMap<string, string>> {
    const containers = await this.containers(pod);
    return new Map(containers.filter(({ running }) => running).map(({ id, name }) => [name, id]));
  }

  async sandboxes(pod: string): Promise<readonly { readonly id: string; readonly ready: boolean }[]> {
    const { items } = await this.#cri.listPodSandbox(ListPodSandboxRequest.fromPartial({}));
    return items
      .filter(({ metadata }) => metadata?.name === `${pod}-${nodeName}`)
      .map(({ id, state }) => ({ id, ready: state === PodSandboxState.SANDBOX_READY }));
  }

  /** What a command in a running container says on both outputs; it must succeed. */
  async exec(containerId: string, command: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#cri.execSync({ containerId, cmd: [...command], timeout: 60n });
    const said = Buffer.concat([stdout, stderr]).toString('utf8');
    if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${said}`);
    return said;
  }

  close(): void {
    this.#cri.close();
  }
}
