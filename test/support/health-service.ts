import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';

/** A health service of gRPC in this process, on all addresses of the machine. */
export interface ServedHealth {
  readonly port: number;
  serving: boolean;
  /** Services that were asked for. */
  readonly asked: ReadonlySet<string>;
  close(): void;
}

const plain = (bytes: Buffer): Buffer => bytes;

/** Its messages have one field each: the name asked for, and 1 for serving or 2 for not. */
export async function serveHealth(): Promise<ServedHealth> {
  const server = new Server();
  const asked = new Set<string>();
  const check = {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: plain,
    requestDeserialize: plain,
    responseSerialize: plain,
    responseDeserialize: plain,
  };
  server.addService(
    { check },
    {
      check: (call: { readonly request: Buffer }, answer: sendUnaryData<Buffer>) => {
        asked.add(call.request.subarray(2).toString());
        answer(null, Buffer.from([0x08, health.serving ? 1 : 2]));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('0.0.0.0:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const health: ServedHealth = { port, serving: false, asked, close: () => server.forceShutdown() };
  return health;
}
