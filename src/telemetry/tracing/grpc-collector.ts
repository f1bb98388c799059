import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { TraceServiceService } from '../../gen/opentelemetry/trace.ts';
import type { Collector } from './span-exporter.ts';

export const defaultCollector = 'localhost:4317';

/** A collector behind OTLP over gRPC, in plain text as the configuration has it. Connects with the first batch. */
export function grpcCollector(endpoint: string, clock: Pick<Clock, 'now'>): Collector {
  const client = new Client(endpoint, credentials.createInsecure(), { 'grpc.enable_http_proxy': 0 });
  const { path, requestSerialize, responseDeserialize } = TraceServiceService.export;
  return {
    send: (request, timeoutMs) =>
      new Promise((resolve, reject) => {
        const deadline = clock.now() + timeoutMs;
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          new Metadata(),
          { deadline },
          (error) => {
            if (error === null) resolve();
            else reject(error);
          },
        );
      }),
    close: () => client.close(),
  };
}
