import { EventRecorder } from '../../apiserver/events/index.ts';
import type { HttpApiClient } from '../../apiserver/index.ts';
import type { WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import { createApiMirrors, type ApiMirrors } from './api-mirrors.ts';
import type { ApiAccess } from './platform.ts';
import { workqueueMetrics } from './workqueue-metrics.ts';

/** The agent's side of an API server. The server may be unavailable: everything here waits and catches up. */
export interface AgentApi {
  readonly client: HttpApiClient;
  readonly mirrors: ApiMirrors;
  /** Must be started before the others, which report events from the beginning. */
  readonly recorder: EventRecorder;
  /** Measures work queues. */
  readonly workqueues: WorkQueueMetrics;
}

export function createAgentApi(ports: CommonPorts, { api: client }: ApiAccess, nodeName: string): AgentApi {
  return {
    client,
    mirrors: createApiMirrors(ports, client, nodeName),
    recorder: new EventRecorder({ ...ports, api: client, host: nodeName }),
    workqueues: workqueueMetrics(ports.metrics, ports.clock),
  };
}
