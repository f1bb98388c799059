import type { Settings } from '../../config/index.ts';
import { podPaths, type PodPaths } from '../../model/pod-paths.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';
import type { NodeEvents } from '../../node/index.ts';
import type { NodeCluster } from '../../node/ports.ts';
import type { PodEvents } from '../../pods/runtime/index.ts';
import { createAgentApi, type AgentApi } from './agent-api.ts';
import type { BootFacts } from './boot.ts';
import { nodeEvents, podEvents } from './pod-events.ts';
import { runtimeSettings } from './settings/runtime-settings.ts';

/** What every step of the composition is given. It has no store and no writer of one. */
export interface AgentContext {
  readonly settings: Settings;
  readonly facts: BootFacts;
  readonly runtime: RuntimeSettings;
  readonly paths: PodPaths;
  /** The API server's objects, and what is reported to it; undefined without one. */
  readonly api: AgentApi | undefined;
  readonly cluster: NodeCluster | undefined;
  readonly events: PodEvents;
  readonly nodeEvents: NodeEvents;
}

export function createContext(settings: Settings, facts: BootFacts): AgentContext {
  const { ports, host, nodeName } = facts;
  const runtime = runtimeSettings(settings, facts, host);
  const api = facts.api && createAgentApi(ports, facts.api, nodeName);
  return {
    settings,
    facts,
    runtime,
    paths: podPaths(runtime.rootDir, runtime.podLogsDir),
    api,
    cluster: api && { api: api.client, mirror: api.mirrors.node, watch: api.workqueues },
    events: podEvents(ports.log, api?.recorder),
    nodeEvents: nodeEvents(ports.log, nodeName, api?.recorder),
  };
}
