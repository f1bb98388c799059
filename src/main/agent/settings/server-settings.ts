import { cpus } from 'node:os';
import { toFlagz, type Settings } from '../../../config/index.ts';
import {
  defaultLimits,
  type Endpoint,
  type ServerAccessSettings,
  type ServerSettings,
  type SwitchStates,
} from '../../../server/index.ts';
import { shownConfiguration } from './shown-configuration.ts';

/** Facts about the process that the server shows or uses. */
interface ServerProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly argv: readonly string[];
}

/** The environment variable with the path of a socket that serves the read-only pages to this user only. */
const socketVariable = 'TUBELET_READ_ONLY_SOCKET';
/**
 * `upstream`: exec, attach and port-forward need only the verb of their HTTP method, as in the Go kubelet. A caller
 * that may `get` nodes/proxy can then run commands in every container of the node; otherwise they need `create` too.
 */
const verbsVariable = 'TUBELET_STREAMING_VERBS';

export function serverSettings(settings: Settings, { env, version, argv }: ServerProcess): ServerSettings {
  const { config, flags, featureGates } = settings;
  const { address } = config;
  const path = env[socketVariable] ?? '';
  return {
    healthz: endpoint(config.healthzBindAddress, config.healthzPort),
    readOnly: endpoint(address, config.readOnlyPort),
    socketPath: path === '' ? undefined : path,
    secure: {
      address,
      port: config.port,
      tls: { minVersion: config.tlsMinVersion, cipherSuites: config.tlsCipherSuites },
    },
    switches: switchesOf(settings),
    access: {
      fineGrained: featureGates.enabled('KubeletFineGrainedAuthz'),
      upstreamVerbs: env[verbsVariable] === 'upstream',
    },
    limits: defaultLimits,
    streamIdleMs: config.streamingConnectionIdleTimeout.toMillis(),
    self: {
      kubeletconfig: shownConfiguration(settings),
      flags: toFlagz(settings),
      version: settings.version,
      nodeVersion: version,
      argv,
      syncPeriodMs: config.syncFrequency.toMillis(),
    },
    isStandalone: flags.kubeconfig === '',
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    nodeLogQuery: config.enableSystemLogQuery && featureGates.enabled('NodeLogQuery'),
    splitStreams: featureGates.enabled('PodLogsQuerySplitStreams'),
    cpuFrequencyKhz: cpuFrequencyKhz(),
    podResourcesGet: featureGates.enabled('KubeletPodResourcesGet'),
  };
}

/** Undefined if the configuration has no secured port. */
export function serverAccessSettings(settings: Settings, nodeName: string): ServerAccessSettings | undefined {
  const { config, featureGates } = settings;
  const { authentication, authorization } = config;
  if (!config.enableServer) return undefined;
  return {
    nodeName,
    authentication: {
      clientCAFile: authentication.x509.clientCAFile,
      webhookEnabled: authentication.webhook.enabled,
      cacheTtlMs: authentication.webhook.cacheTTL.toMillis(),
      anonymous: authentication.anonymous.enabled,
      userIds: featureGates.enabled('AllowParsingUserUIDFromCertAuth'),
    },
    authorization: {
      mode: authorization.mode,
      authorizedTtlMs: authorization.webhook.cacheAuthorizedTTL.toMillis(),
      unauthorizedTtlMs: authorization.webhook.cacheUnauthorizedTTL.toMillis(),
    },
  };
}

/** Port 0 disables the endpoint. */
function endpoint(address: string, port: number): Endpoint | undefined {
  return port > 0 ? { address, port } : undefined;
}

function switchesOf({ config, featureGates }: Settings): SwitchStates {
  return {
    debugging: config.enableDebuggingHandlers,
    systemLogs: config.enableSystemLogHandler,
    profiling: config.enableProfilingHandler,
    debugFlags: config.enableDebugFlagsHandler,
    checkpoint: featureGates.enabled('ContainerCheckpoint'),
    statusz: featureGates.enabled('ComponentStatusz'),
    flagz: featureGates.enabled('ComponentFlagz'),
  };
}

function cpuFrequencyKhz(): number | undefined {
  const megahertz = cpus()[0]?.speed ?? 0;
  return megahertz > 0 ? megahertz * 1_000 : undefined;
}
