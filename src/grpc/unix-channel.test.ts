import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { status } from '@grpc/grpc-js';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { RpcChannel } from '../base/rpc.ts';
import { NodeService } from '../gen/csi/v1.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeCsiDriver } from '../testing/fake-csi-driver.ts';
import { rpcError, unixChannels } from './index.ts';

let folder = '';
let sockets = 0;
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'grpc-'))));
after(() => rm(folder, { recursive: true, force: true }));

interface World {
  readonly clock: FakeClock;
  readonly driver: FakeCsiDriver;
  readonly socket: string;
  readonly channel: RpcChannel;
  /** Resolves when an established connection is lost. */
  readonly lost: Promise<void>;
}

async function world(context: TestContext, serves = true): Promise<World> {
  const clock = new FakeClock();
  const driver = new FakeCsiDriver();
  const socket = join(folder, `${++sockets}.sock`);
  if (serves) await driver.serve(socket);
  let onLost = (): void => {};
  const lost = new Promise<void>((resolve) => (onLost = resolve));
  const channel = unixChannels(clock)(socket, () => onLost());
  context.after(async () => {
    channel.close();
    await driver.die();
  });
  return { clock, driver, socket, channel, lost };
}

const info = (channel: RpcChannel, options?: { signal?: AbortSignal; timeoutMs?: number }) =>
  channel.call(NodeService.nodeGetInfo, {}, options);

test('calls, and gets the answer of the server', async (context) => {
  const { channel, driver } = await world(context);
  assert.equal((await info(channel)).nodeId, 'node-1');
  driver.fail('nodeGetInfo', { code: 'FAILED_PRECONDITION', details: 'kein Gerät' });
  await assert.rejects(info(channel), {
    kind: 'conflict',
    code: 'FailedPrecondition',
    remoteMessage: 'kein Gerät',
    message: 'rpc error: code = FailedPrecondition desc = kein Gerät',
  });
});

test('a hung call is cancelled at the deadline, by our clock, or by its caller', async (context) => {
  const { channel, driver, clock } = await world(context);
  driver.hang('nodeGetInfo');
  const asked = driver.asked('nodeGetInfo');
  const late = assert.rejects(info(channel, { timeoutMs: 120_000 }), { kind: 'timeout', code: 'DeadlineExceeded' });
  await asked;
  await clock.advance(120_000);
  await late;
  const caller = new AbortController();
  const again = driver.asked('nodeGetInfo');
  const gone = assert.rejects(info(channel, { signal: caller.signal }), { kind: 'cancelled', code: 'Canceled' });
  await again;
  caller.abort(new Error('no longer wanted'));
  await gone;
  assert.equal(clock.pending(), 0);
});

test('a server that dies fails its calls, is reported as lost, and is found again', async (context) => {
  const { channel, driver, socket, lost } = await world(context);
  driver.hang('nodeGetInfo');
  const asked = driver.asked('nodeGetInfo');
  const broken = assert.rejects(info(channel), { kind: 'unavailable' });
  await asked;
  await driver.die();
  await broken;
  await lost;
  await assert.rejects(info(channel), { kind: 'unavailable', code: 'Unavailable' });
  driver.heal();
  await driver.serve(socket);
  await channel.connected(new AbortController().signal);
  assert.equal((await info(channel)).nodeId, 'node-1');
});

test('waits for a server that is not running yet, until the caller gives up', async (context) => {
  const { channel, driver, socket } = await world(context, false);
  const enough = new AbortController();
  const waited = assert.rejects(channel.connected(enough.signal), /enough/);
  enough.abort(new Error('enough'));
  await waited;
  const reached = channel.connected(new AbortController().signal);
  await driver.serve(socket);
  await reached;
});

test('closed: running calls end, new ones are refused', async (context) => {
  const { channel, driver } = await world(context);
  const release = driver.hang('nodeGetInfo');
  const asked = driver.asked('nodeGetInfo');
  const underWay = info(channel);
  await asked;
  channel.close();
  release();
  assert.equal((await underWay).nodeId, 'node-1');
  await assert.rejects(info(channel), { kind: 'cancelled' });
  await assert.rejects(channel.connected(new AbortController().signal), { kind: 'cancelled' });
});

test('a path that no socket can have is named', async () => {
  const path = `/${'x'.repeat(107)}`;
  await assert.rejects(info(unixChannels(new FakeClock())(path)), {
    kind: 'invalid',
    message: /longer than 107 bytes/,
  });
});

test('codes and kinds', () => {
  const table: readonly (readonly [keyof typeof status, string, ErrorKind])[] = [
    ['CANCELLED', 'Canceled', 'unavailable'],
    ['UNKNOWN', 'Unknown', 'internal'],
    ['INVALID_ARGUMENT', 'InvalidArgument', 'invalid'],
    ['DEADLINE_EXCEEDED', 'DeadlineExceeded', 'timeout'],
    ['NOT_FOUND', 'NotFound', 'notFound'],
    ['ALREADY_EXISTS', 'AlreadyExists', 'alreadyExists'],
    ['PERMISSION_DENIED', 'PermissionDenied', 'denied'],
    ['RESOURCE_EXHAUSTED', 'ResourceExhausted', 'exhausted'],
    ['FAILED_PRECONDITION', 'FailedPrecondition', 'conflict'],
    ['ABORTED', 'Aborted', 'conflict'],
    ['OUT_OF_RANGE', 'OutOfRange', 'invalid'],
    ['UNIMPLEMENTED', 'Unimplemented', 'unsupported'],
    ['INTERNAL', 'Internal', 'internal'],
    ['UNAVAILABLE', 'Unavailable', 'unavailable'],
    ['DATA_LOSS', 'DataLoss', 'internal'],
    ['UNAUTHENTICATED', 'Unauthenticated', 'denied'],
  ];
  for (const [name, code, kind] of table) {
    const error = rpcError({ code: status[name], details: 'why' });
    assert.deepEqual([error.code, error.kind, error.remoteMessage], [code, kind, 'why'], name);
  }
  assert.equal(rpcError({ code: 99, details: '' }).code, 'Code(99)');
  const known = new TubeletError('denied', 'x');
  assert.equal(rpcError(known), known);
  assert.equal(rpcError(new Error('broken')).message, 'broken');
});
