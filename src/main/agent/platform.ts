import type { HttpApiClient } from '../../apiserver/index.ts';
import type { CertificateFiles } from '../../apiserver/identity/index.ts';
import type { Component } from '../../base/component.ts';
import type { Broadcaster } from '../../base/broadcaster.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Settings } from '../../config/index.ts';
import type { Cri, ObserveCall } from '../../cri/index.ts';
import type { MachineInfo } from '../../host/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { ImagesWiring } from '../../images/create-images.ts';
import type { LoadedProviders } from '../../images/index.ts';
import type { KernelFacts } from '../../model/host-facts.ts';
import type { Logind } from '../../model/logind.ts';
import type { SystemdUnits } from '../../model/systemd-units.ts';
import type { DeviceCheckpoint, NodeHost, ProgramStart } from '../../node/index.ts';
import type { PluginsWiring } from '../../plugins/create-plugins.ts';
import type { PodHost } from '../../pods/create-parts.ts';
import type { SourcesParts } from '../../pods/create-sources.ts';
import type { RuntimeEventSource } from '../../pods/pleg/index.ts';
import type { SetupMachine } from '../../setup/index.ts';
import type { CgroupHost } from '../../resources/create-cgroups.ts';
import type { AuthorityFiles } from '../../server/auth/index.ts';
import type { ServedFiles, SocketFiles } from '../../server/index.ts';
import type { CheckpointDisk } from '../../state/index.ts';
import type { ShutdownFiles } from '../../shutdown/ports.ts';
import type { StatsHost } from '../../stats/index.ts';
import type { EngineMeter, LogSink } from '../../telemetry/index.ts';
import type { VolumesMachine } from '../../volumes/volumes-wiring.ts';

/** Everything outside of the agent that it reaches. All else is made from this and the settings. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LogSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly process: ProcessFacts;
  /** Measures the engine that runs the agent. */
  readonly engine: EngineMeter;
  /** Files of the sockets that the agent serves at; undefined on a machine without sockets, where no port is opened. */
  readonly sockets: SocketFiles | undefined;
  /** The first call opens the connection. */
  connectRuntime(observers: RuntimeObservers): RuntimePlatform;
  /** Undefined where no API server is configured. Waits until the agent has an identity there. */
  openApi(ports: CommonPorts, tracer: Tracer | undefined, signal: AbortSignal): Promise<ApiAccess | undefined>;
  openHost(ports: CommonPorts, wanted: HostWanted): Promise<Host>;
}

interface ProcessFacts {
  /** Of the engine. */
  readonly version: string;
  readonly argv: readonly string[];
  readonly workingDir: string;
}

interface RuntimeObservers {
  readonly observe: ObserveCall;
  readonly calls: CommonPorts['calls'];
  readonly tracer: Tracer | undefined;
}

interface RuntimePlatform {
  readonly cri: Cri;
  /** Event streams for a runtime that has none of its own. */
  readonly eventSources: readonly RuntimeEventSource[];
}

export interface ApiAccess {
  readonly api: HttpApiClient;
  /** With a rate limit of its own, for requests that callers cause before they are authenticated. */
  readonly reviews: HttpApiClient;
  /** Components that renew the agent's identity. */
  readonly components: readonly Component[];
  close(): Promise<void>;
}

export interface HostWanted {
  readonly settings: Settings;
  readonly storageAnswers: Broadcaster<void>;
  readonly cri: Cri;
}

/** The machine, by the subsystems that need it. */
export interface Host {
  /** Must be started before any component that reads volumes. */
  readonly components: readonly Component[];
  readonly machine: MachineInfo;
  readonly kernel: KernelFacts & {
    /** Whether swap can be limited per cgroup. */
    readonly hasSwapController: boolean;
    /** Whether files need labels before a container may read them. */
    readonly hasSelinux: boolean;
  };
  readonly programStart: ProgramStart;
  outwardAddresses(): readonly string[];
  readonly setup: SetupMachine;
  loadImageProviders(): Promise<LoadedProviders | undefined>;
  readonly checkpoints: CheckpointDisk;
  readonly formerDevices: DeviceCheckpoint;
  readonly node: NodeHost;
  readonly pods: PodHost;
  readonly sources: SourcesParts['host'];
  readonly volumes: VolumesMachine;
  readonly images: Pick<ImagesWiring, 'files' | 'pluginRunner'>;
  readonly plugins: Pick<PluginsWiring, 'files' | 'open'>;
  readonly cgroups: CgroupHost;
  /** Undefined on a machine without systemd. */
  readonly systemd: { readonly units: SystemdUnits; readonly logind: Logind } | undefined;
  readonly stats: StatsHost;
  readonly shutdown: ShutdownFiles;
  readonly server: ServerHost;
}

interface ServerHost {
  readonly files: ServedFiles;
  readonly authorities: AuthorityFiles;
  readonly certificates: CertificateFiles;
}
