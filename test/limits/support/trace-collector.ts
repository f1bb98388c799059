import { Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import {
  TraceServiceService,
  type ExportTraceServiceRequest,
  type ExportTraceServiceResponse,
} from '../../../src/gen/opentelemetry/trace.ts';

/** A collector of traces on loopback that remembers all it was sent. */
export class TraceCollector {
  readonly requests: ExportTraceServiceRequest[] = [];
  readonly #server = new Server();
  #port = 0;

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    const take: handleUnaryCall<ExportTraceServiceRequest, ExportTraceServiceResponse> = (call, answer) => {
      collector.requests.push(call.request);
      answer(null, {} as ExportTraceServiceResponse);
    };
    collector.#server.addService(TraceServiceService, { export: take });
    collector.#port = await new Promise<number>((resolve, reject) => {
      collector.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return collector;
  }

  get endpoint(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get text(): string {
    return JSON.stringify(this.requests, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
