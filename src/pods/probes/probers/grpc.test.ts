import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import {
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type Metadata,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { containerId } from '../../../base/ids.ts';
import type { Clock } from '../../../base/clock.ts';
import { systemClock } from '../../../base/system-clock.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { aContainer, aPod } from '../../../testing/pods.ts';
import type { ProbeOutcome } from '../ports.ts';
import { grpcProber } from './grpc.ts';
import { decodeCheckResponse, encodeCheckRequest } from './grpc.ts';

/** A health server on raw bytes: it shares no encoding with the client. */
type Check = (request: Buffer, reply: sendUnaryData<Buffer>, metadata: Metadata) => void;

async function serve(context: TestContext, check: Check, path = '/grpc.health.v1.Health/Check'): Promise<number> {
  const server = new Server();
  const raw = (bytes: Buffer): Buffer => bytes;
  const handle: handleUnaryCall<Buffer, Buffer> = (call, reply) => check(call.request, reply, call.metadata);
  server.register(path, handle, raw, raw, 'unary');
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  context.after(() => server.forceShutdown());
  return port;
}

function probe(port: number, service?: string, clock: Clock = systemClock(), signal?: AbortSignal) {
  return grpcProber(clock)(
    {
      pod: aPod(),
      container: aContainer('main'),
      containerId: containerId('c0'),
      probe: { grpc: { port, ...(service !== undefined && { service }) } },
      podIp: '127.0.0.1',
      timeoutMs: 5_000,
    },
    signal ?? new AbortController().signal,
  );
}

const says =
  (...bytes: readonly number[]): Check =>
  (_request, reply) =>
    reply(null, Buffer.from(bytes));

const failure = (output: string): ProbeOutcome => ({ kind: 'failure', output });

test('the messages, byte by byte', () => {
  assert.deepEqual([...encodeCheckRequest('')], []);
  assert.deepEqual([...encodeCheckRequest('ab')], [0x0a, 2, 0x61, 0x62]);
  assert.equal(decodeCheckResponse(Buffer.from([])), 'UNKNOWN');
  assert.equal(decodeCheckResponse(Buffer.from([8, 1])), 'SERVING');
  assert.equal(decodeCheckResponse(Buffer.from([8, 2])), 'NOT_SERVING');
  assert.equal(decodeCheckResponse(Buffer.from([0x12, 1, 0x78, 8, 3])), 'SERVICE_UNKNOWN');
  assert.equal(decodeCheckResponse(Buffer.from([8, 77])), '77');
});

test('a service that is serving', async (context) => {
  const seen: (string | readonly (string | Buffer)[])[] = [];
  const port = await serve(context, (request, reply, metadata) => {
    seen.push(request.toString('latin1'), metadata.get('user-agent'));
    reply(null, Buffer.from([8, 1]));
  });
  assert.deepEqual(await probe(port, 'mail'), { kind: 'success', output: 'service healthy' });
  assert.equal(seen[0], '\n\u0004mail');
  assert.match(String(seen[1]), /^kube-probe\/1\.34 /);
});

test('one that is not, and one that is unknown', async (context) => {
  const unhealthy = failure('service unhealthy (responded with "NOT_SERVING")');
  assert.deepEqual(await probe(await serve(context, says(8, 2))), unhealthy);
  assert.deepEqual(await probe(await serve(context, says())), failure('service unhealthy (responded with "UNKNOWN")'));
  const unknown = await serve(context, (_request, reply) =>
    reply({ code: status.NOT_FOUND, details: 'unknown service' }),
  );
  const output = 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service';
  assert.deepEqual(await probe(unknown), failure(output));
});

test('a server without the health service', async (context) => {
  const outcome = await probe(await serve(context, says(8, 1), '/other.Service/Check'));
  assert.ok(outcome.kind === 'failure');
  assert.match(
    outcome.output,
    /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): .+/,
  );
});

test('a server that does not answer in time', async (context) => {
  const clock = new FakeClock();
  let asked = (): void => {};
  const arrival = new Promise<void>((resolve) => (asked = resolve));
  const port = await serve(context, () => asked());
  const outcome = probe(port, '', clock);
  await arrival;
  await clock.advance(5_000);
  assert.deepEqual(await outcome, { ...failure('timeout: health rpc did not complete within 5s'), unanswered: true });
});

test('a server that is not there', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  const clock = new FakeClock();
  const outcome = probe(port, '', clock);
  await clock.advance(5_000);
  assert.deepEqual(await outcome, {
    ...failure(`timeout: failed to connect service "127.0.0.1:${port}" within 5s: context deadline exceeded`),
    unanswered: true,
  });
});

test('a try that timed out does not connect again behind our back', async (context) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  // It accepts and says nothing, so that no connection ever comes to be. Each try after the first gives a leak its time.
  for (let tries = 1; tries <= 4; tries++) {
    const clock = new FakeClock();
    const connection = once(server, 'connection');
    const outcome = probe(port, '', clock);
    await connection;
    await clock.advance(5_000);
    assert.equal((await outcome).kind, 'failure');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(sockets.size, tries);
  }
});

test('an abort rejects', async (context) => {
  const stop = new AbortController();
  const port = await serve(context, () => stop.abort(new Error('enough')));
  await assert.rejects(probe(port, '', new FakeClock(), stop.signal), /enough/);
});
