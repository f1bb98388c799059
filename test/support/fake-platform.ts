import { CertificateStore, ClientCertificateManager } from '../../src/apiserver/identity/index.ts';
import { clientMetrics, HttpApiClient, type ApiTransport } from '../../src/apiserver/index.ts';
import { TubeletError } from '../../src/base/errors.ts';
import { criOver, type Cri, type CriTransport } from '../../src/cri/index.ts';
import type { Host, Platform } from '../../src/main/agent/platform.ts';
import type { CommonPorts } from '../../src/model/common-ports.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { FakeApiServer, type FakeApiServerDeps } from '../../src/testing/fake-api-server/index.ts';
import { createFakeCri, fakeCriTransport, type FakeCri, type FakeCriDeps } from '../../src/testing/fake-cri/index.ts';
import { ManifestFolder } from '../../src/testing/manifest-folder.ts';
import { MemoryCertificateFiles } from '../../src/testing/memory-certificate-files.ts';
import { MemoryCgroupTree } from '../../src/testing/memory-cgroup-tree.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { MemorySetupMachine } from '../../src/testing/memory-setup-machine.ts';
import { goldenInputs } from '../../src/testing/node-world.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { stillEngine } from '../../src/testing/still-engine.ts';
import { StatsWorld } from '../../src/testing/stats-world.ts';
import type { LogSink } from '../../src/telemetry/index.ts';
import { fakeHost, type FakeDisks } from './fake-host.ts';

/** A node in memory, on virtual time: all that outlives the agent. */
export interface FakeMachine extends FakeDisks {
  readonly seed: number;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly cri: FakeCri;
  /** Undefined where no cluster is near. */
  readonly api: FakeApiServer | undefined;
}

interface FakeMachineOptions {
  readonly seed?: number;
  readonly cluster?: boolean;
  readonly clock?: FakeClock;
  /** A disk that others write on as well. */
  readonly files?: MemoryFiles;
  /** The runtime has the machine's clock unless told. */
  readonly runtime?: Partial<FakeCriDeps>;
  /** So has the API server. */
  readonly apiServer?: Partial<Pick<FakeApiServerDeps, 'clock' | 'uidOf' | 'allows'>>;
}

export function fakeMachine(options: FakeMachineOptions = {}): FakeMachine {
  const { seed = 1, cluster = false, clock = new FakeClock(), runtime, apiServer } = options;
  const { files = new MemoryFiles() } = options;
  return {
    seed,
    clock,
    log: new MemoryLog(),
    cri: createFakeCri({ clock, ...runtime }),
    files,
    manifests: new ManifestFolder(),
    certificates: new MemoryCertificateFiles(),
    cgroups: new MemoryCgroupTree(),
    usage: new StatsWorld(clock),
    setup: new MemorySetupMachine(files),
    capacity: { ...goldenInputs.capacity },
    api: cluster ? new FakeApiServer({ clock, random: seededRandom(seed + 7), ...apiServer }) : undefined,
  };
}

/** What one life of an agent reaches of its machine, and the end of that. */
export interface FakePlatform extends Platform {
  /** From now on nothing that the agent does arrives anywhere: the process is dead. */
  cut(): void;
}

/** What a test has otherwise than `fakePlatform`. */
export interface PlatformOverrides extends Partial<Platform> {
  /** Whether the agent renews its certificate at the API server; another has one for ever. */
  readonly renewsIdentity?: boolean;
  readonly host?: Partial<Host>;
  /** The same for what pods need of it. */
  readonly podHost?: (own: Host['pods']) => Host['pods'];
  /** Budget of the client for everything but events. */
  readonly apiLimits?: { readonly qps: number; readonly burst: number };
  /** What stands between the agent and the API server. */
  readonly apiWire?: (server: ApiTransport) => ApiTransport;
  /** The same between it and the runtime. */
  readonly runtimeWire?: (cri: Cri) => Cri;
  /** The same between it and the disk. */
  readonly diskWire?: (files: MemoryFiles) => MemoryFiles;
}

/** Everything the agent reaches, on fakes. One life of the agent has one platform; all its randomness comes of one seed. */
export function fakePlatform(machine: FakeMachine, life = 0, overrides: PlatformOverrides = {}): FakePlatform {
  const { log, cri, api, seed } = machine;
  const { host = {}, renewsIdentity = false, apiLimits, ...wired } = overrides;
  const { apiWire = same, runtimeWire = same, diskWire = same, podHost = same, ...others } = wired;
  const { clock = machine.clock } = others;
  const wire = { isCut: false };
  const files = diskWire(filesOver(wire, machine.files));
  return {
    clock,
    random: seededRandom(seed * 1_000 + life),
    log: sinkOf(log),
    env: { HOME: '/root' },
    process: { version: 'v20.0.0', argv: ['kubelet'], workingDir: '/' },
    engine: stillEngine,
    sockets: undefined,
    connectRuntime: (observers) => {
      const transport = runtimeOver(wire, fakeCriTransport(cri.engine));
      return {
        cri: runtimeWire(criOver(transport, { ...observers, clock, log, timeouts: { requestMs: 120_000 } })),
        eventSources: [],
      };
    },
    openApi: async (ports) => {
      if (api === undefined) return undefined;
      const transport = apiOver(wire, apiWire(api));
      const seen = clientMetrics(ports.metrics, 'api.test:6443', clock).requests;
      const credentials = { authorization: async () => undefined };
      const client = () =>
        new HttpApiClient({
          clock,
          log,
          transport,
          credentials,
          userAgent: 'kubelet/test',
          seen,
          calls: ports.calls,
          ...(apiLimits && { limits: { normal: apiLimits } }),
        });
      const [own, reviews] = [client(), client()];
      const components = renewsIdentity ? [identityOf(machine, ports, own)] : [];
      return { api: own, reviews, components, close: () => transport.close() };
    },
    openHost: async (_ports, wanted) => {
      const own = fakeHost({ ...machine, clock }, files, wanted.cri);
      return { ...own, pods: podHost(own.pods), ...host };
    },
    ...others,
    cut: () => {
      wire.isCut = true;
    },
  };
}

const same = <T>(wire: T): T => wire;

interface Wire {
  isCut: boolean;
}

const dead = (): TubeletError => new TubeletError('unavailable', 'the agent is dead');

function runtimeOver(wire: Wire, transport: CriTransport): CriTransport {
  return {
    ...transport,
    invoke: async (invocation) => {
      if (wire.isCut) throw dead();
      return transport.invoke(invocation);
    },
  };
}

function apiOver(wire: Wire, api: ApiTransport): ApiTransport {
  return {
    send: async (request) => {
      if (wire.isCut) throw dead();
      return api.send(request);
    },
    reset: () => api.reset(),
    close: async () => {},
  };
}

function filesOver(wire: Wire, disk: MemoryFiles): MemoryFiles {
  const files = new MemoryFiles(disk);
  files.fault = (operation, path) => {
    if (wire.isCut) throw dead();
    disk.fault(operation, path);
  };
  return files;
}

function identityOf({ certificates }: FakeMachine, ports: CommonPorts, api: HttpApiClient): ClientCertificateManager {
  const store = new CertificateStore({ files: certificates, log: ports.log, folder: '/pki', purpose: 'client' });
  return new ClientCertificateManager({ ...ports, api, store, nodeName: 'node-1', onRotated: () => {} });
}

/** A log in memory as the agent's own log, which may be made more or less verbose. */
function sinkOf(log: MemoryLog): LogSink {
  let verbosity = 0;
  return Object.assign(new MemoryLog(log.entries), {
    setVerbosity: (level: number) => {
      verbosity = level;
    },
    verbosity: () => verbosity,
    problem: () => undefined,
    flush: () => {},
  });
}
