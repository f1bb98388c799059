import type { Clock } from '../../base/clock.ts';
import { systemRandom } from '../../base/system-random.ts';
import type { Settings } from '../../config/index.ts';
import { containerdEvents } from '../../containerd/index.ts';
import { connectCri } from '../../cri/index.ts';
import { socketFiles } from '../../host/index.ts';
import { containerdEventSource } from '../../pods/pleg/index.ts';
import { nodeEngine, type LogSink } from '../../telemetry/index.ts';
import { openApi } from './api-connection.ts';
import type { Platform } from './platform.ts';
import { openRealHost } from './real-host.ts';

interface RealPlatformParts {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: LogSink;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** This machine, its container runtime and its API server. */
export function realPlatform({ settings, nodeName, clock, log, env }: RealPlatformParts): Platform {
  const { config } = settings;
  const { containerRuntimeEndpoint: endpoint, imageServiceEndpoint: imageEndpoint } = config;
  const random = systemRandom();
  return {
    clock,
    random,
    log,
    env,
    process: { version: process.version, argv: process.argv, workingDir: process.cwd() },
    engine: nodeEngine,
    sockets: socketFiles,
    connectRuntime: (observers) => {
      const timeouts = { requestMs: config.runtimeRequestTimeout.toMillis() };
      const cri = connectCri({ ...observers, endpoint, imageEndpoint, clock, log, timeouts });
      return { cri, eventSources: [containerdEventSource(containerdEvents({ endpoint: cri.endpoint, clock, log }))] };
    },
    openApi: async (ports, tracer, signal) => {
      const access = await openApi({ ...ports, settings, nodeName, env, tracer }, signal);
      return access && { ...access, close: () => access.transport.close() };
    },
    openHost: (ports, wanted) => openRealHost({ env }, ports, wanted),
  };
}
