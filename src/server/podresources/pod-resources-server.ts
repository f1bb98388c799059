import { dirname } from 'node:path';
import { Server, ServerCredentials, status, type handleUnaryCall } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { TokenBucket } from '../../base/token-bucket.ts';
import { PodResourcesListerService } from '../../gen/podresources/v1.ts';
import { PodResourcesListerService as OldListerService } from '../../gen/podresources/v1alpha1.ts';
import type { ApiVersion, PodResourcesMethod, PodResourcesMetrics } from './pod-resources-metrics.ts';
import { allocatableResources, podResources } from './pod-resources.ts';
import type { SocketFiles } from '../ports.ts';
import type { AllocatedPod, ResourceAllocations } from './ports.ts';

interface PodResourcesServerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: PodResourcesMetrics;
  /** Where the socket is to be. */
  readonly socket: string;
  readonly sockets: Omit<SocketFiles, 'removeSocket'>;
  /** Only pods that have not ended hold anything. */
  readonly pods: { activePods(): readonly AllocatedPod[] };
  readonly allocations: ResourceAllocations;
  /** The gate KubeletPodResourcesGet. */
  readonly canGet: boolean;
}

const rate = { perSecond: 100, burst: 10 };
const folderMode = 0o750;
const socketMode = 0o600;
const largestQuestion = 64 * 1024;

/** Tells agents on this node which container holds which devices, CPUs and memory, over a unix socket. */
export class PodResourcesServer implements Component {
  readonly name = 'pod-resources';
  readonly #deps: PodResourcesServerDeps;
  readonly #bucket: TokenBucket;
  #server: Server | undefined;

  constructor(deps: PodResourcesServerDeps) {
    this.#deps = deps;
    this.#bucket = new TokenBucket(deps.clock, rate);
  }

  async start(): Promise<void> {
    const { socket, sockets, log } = this.#deps;
    await sockets.makeFolder(dirname(socket), folderMode);
    // An agent that was killed leaves its socket behind.
    await sockets.removeFile(socket);
    const server = new Server({ 'grpc.max_receive_message_length': largestQuestion });
    this.#addServices(server);
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) => {
        if (error === null) resolve();
        else reject(new TubeletError('unavailable', `cannot listen at ${socket}: ${error.message}`, { cause: error }));
      });
    });
    await sockets.setMode(socket, socketMode);
    this.#server = server;
    log.info('Serving pod resources', { socket });
  }

  async stop(): Promise<void> {
    this.#server?.forceShutdown();
    this.#server = undefined;
    await this.#deps.sockets.removeFile(this.#deps.socket);
  }

  #addServices(server: Server): void {
    const { pods, allocations, canGet } = this.#deps;
    const all = () => ({ podResources: pods.activePods().map((pod) => podResources(pod, allocations)) });
    server.addService(PodResourcesListerService, {
      list: this.#answer('list', 'v1', all),
      getAllocatableResources: this.#answer('get_allocatable', 'v1', () => allocatableResources(allocations)),
      get: this.#answer('get', 'v1', ({ podName, podNamespace }: { podName: string; podNamespace: string }) => {
        if (!canGet) throw new TubeletError('unsupported', 'PodResources API Get method disabled');
        const pod = pods.activePods().find(({ name, namespace }) => name === podName && namespace === podNamespace);
        if (pod === undefined)
          throw new TubeletError('notFound', `pod ${podName} in namespace ${podNamespace} not found`);
        return { podResources: podResources(pod, allocations) };
      }),
    });
    server.addService(OldListerService, { list: this.#answer('list', 'v1alpha1', all) });
  }

  #answer<Request, Response>(
    method: PodResourcesMethod,
    version: ApiVersion,
    answer: (request: Request) => Response,
  ): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      if (!this.#bucket.tryTake()) {
        callback({ code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' });
        return;
      }
      this.#deps.metrics.asked(method, version);
      try {
        callback(null, answer(call.request));
      } catch (error) {
        this.#deps.metrics.failed(method, version);
        // As Go's server does with an error that has no code.
        callback({ code: status.UNKNOWN, details: messageOf(error) });
      }
    };
  }
}
