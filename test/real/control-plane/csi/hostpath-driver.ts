import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { VolumeCapability } from '../../../../src/gen/csi/v1.ts';
import { unixChannels } from '../../../../src/grpc/index.ts';
import { Program } from '../../../support/real-program.ts';
import { clock, until } from '../../../support/real-wait.ts';
import { programPath } from '../programs.ts';
import { ControllerClient, type MadeVolume } from './controller-client.ts';
import { freeLoopDevicesBelow, loopDevicesBelow } from './loop-devices.ts';

interface HostpathOptions {
  readonly name: string;
  readonly nodeId: string;
  readonly socketPath: string;
  /** Where it keeps its volumes, and what it knows of them. */
  readonly dataFolder: string;
  /** It wants to be told of attachments before a volume is staged. */
  readonly attaches?: boolean;
}

/** The label by which this driver tells from where a node reaches volumes. */
export const topologyKey = 'topology.hostpath.csi/node';

/** The CSI hostpath driver as a process that comes and goes; its volumes stay. */
export class HostpathDriver {
  readonly name: string;
  readonly nodeId: string;
  readonly socketPath: string;
  readonly controller: ControllerClient;
  readonly #options: HostpathOptions;
  #program: Program | undefined;
  #written = 0;

  constructor(options: HostpathOptions) {
    this.#options = options;
    this.name = options.name;
    this.nodeId = options.nodeId;
    this.socketPath = options.socketPath;
    this.controller = new ControllerClient(unixChannels(clock)(options.socketPath));
  }

  /** All it has said since it was started last. */
  get text(): string {
    return this.#program?.text ?? '';
  }

  /** Returns when it answers. */
  async start(): Promise<void> {
    if (this.#program?.running === true) throw new Error(`driver ${this.name} runs already`);
    const { name, nodeId, socketPath, dataFolder, attaches = false } = this.#options;
    mkdirSync(dirname(socketPath), { recursive: true });
    mkdirSync(dataFolder, { recursive: true });
    const program = new Program([
      // The kernel ends it when this process is killed, which could not do it anymore.
      '/usr/bin/setpriv',
      '--pdeathsig',
      'KILL',
      '--',
      programPath('hostpathplugin'),
      `--drivername=${name}`,
      `--nodeid=${nodeId}`,
      `--endpoint=unix://${socketPath}`,
      `--statedir=${dataFolder}`,
      `--enable-attach=${attaches}`,
      '--v=5',
    ]);
    this.#program = program;
    const answers = (): Promise<true> => this.#probe().then(() => true);
    const state = (): string => program.text.slice(-2_000);
    const answer = await until(`driver ${name} answers`, async () => (program.running ? await answers() : 'ended'), {
      timeoutMs: 60_000,
      state,
    });
    if (answer === 'ended') throw new Error(`driver ${name} ended: ${state()}`);
  }

  async kill(): Promise<void> {
    await this.#program?.end();
  }

  /**
   * What this version knows of uses of volumes it writes down only when a volume comes or goes. A driver that is killed
   * between has forgotten them; whoever wants it to come back as it was has it write first.
   */
  async writeState(): Promise<void> {
    const { id } = await this.createVolume(`to-write-${++this.#written}`, 1n << 20n, {
      accessMode: { mode: 1 },
      block: undefined,
      mount: { fsType: '', mountFlags: [], volumeMountGroup: '' },
    });
    await this.controller.deleteVolume(id);
  }

  createVolume(name: string, bytes: bigint, capability: VolumeCapability): Promise<MadeVolume> {
    return this.controller.createVolume(name, bytes, capability);
  }

  /** Where the contents of a volume are: its folder, or the file behind its device. */
  dataOf(id: string): string {
    return join(this.#options.dataFolder, id);
  }

  /** Loop devices behind which its block volumes are. */
  devices(): readonly string[] {
    return loopDevicesBelow(this.#options.dataFolder);
  }

  /** The volumes it has on record, and what it thinks they are used for. */
  async volumes(): Promise<readonly HostpathVolume[]> {
    await this.writeState();
    const { Volumes = [] } = JSON.parse(readFileSync(join(this.#options.dataFolder, 'state.json'), 'utf8')) as {
      readonly Volumes?: readonly HostpathVolume[] | null;
    };
    return Volumes ?? [];
  }

  /** Which calls it had that succeeded, in order, since it was started last. */
  calls(volumeId?: string): readonly string[] {
    return this.#log()
      .filter(({ Request, Error }) => Error === '' && (volumeId === undefined || Request.volume_id === volumeId))
      .map(({ Method }) => Method.slice(Method.lastIndexOf('/') + 1));
  }

  /** What it was asked by calls of a name, as it writes that down. */
  requests(call: string, volumeId?: string): readonly GrpcRequest[] {
    return this.#log()
      .filter(
        ({ Method, Request }) =>
          Method.endsWith(`/${call}`) && (volumeId === undefined || Request.volume_id === volumeId),
      )
      .map(({ Request }) => Request);
  }

  /** Ends it, and frees the loop devices of volumes that nobody has deleted. */
  async destroy(): Promise<void> {
    this.controller.close();
    await this.kill();
    freeLoopDevicesBelow(this.#options.dataFolder);
  }

  #log(): readonly GrpcCall[] {
    return [...this.text.matchAll(/gRPCCall: (\{.*\})/g)].map(([, json = '']) => JSON.parse(json) as GrpcCall);
  }

  /** Deleting what is not there is done: whoever is told so has reached it. */
  #probe(): Promise<void> {
    return this.controller.deleteVolume('nobody');
  }
}

/** As it stands in the driver's own file. */
interface HostpathVolume {
  readonly VolID: string;
  readonly VolSize: number;
  readonly Attached: boolean;
  readonly Staged: readonly string[] | null;
  readonly Published: readonly string[] | null;
}

interface GrpcCall {
  readonly Method: string;
  readonly Request: GrpcRequest;
  readonly Error: string;
}

type GrpcRequest = Readonly<Record<string, unknown>> & { readonly volume_id?: string };
