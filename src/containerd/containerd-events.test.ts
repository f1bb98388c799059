import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { Server, ServerCredentials, status, type ServerWritableStream } from '@grpc/grpc-js';
import { describeError } from '../base/errors.ts';
import { silentLog } from '../base/log.ts';
import { systemClock } from '../base/system-clock.ts';
import { Envelope, EventsService, TaskExit, TaskStart, type SubscribeRequest } from '../gen/containerd/events.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { containerdEvents, type ContainerdEvent } from './index.ts';

const clock = systemClock();
const never = new AbortController().signal;
let folder = '';
let sockets = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'containerd-'));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

type Subscriber = ServerWritableStream<SubscribeRequest, Envelope>;

/** A server in containerd's place; `subscribe` is what it does with a subscriber. */
async function serve(context: TestContext, subscribe?: (call: Subscriber) => void): Promise<string> {
  const endpoint = `unix://${join(folder, `${++sockets}.sock`)}`;
  const server = new Server();
  if (subscribe !== undefined) server.addService(EventsService, { subscribe });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  context.after(() => server.forceShutdown());
  return endpoint;
}

const envelope = (topic: string, value: Uint8Array, namespace = 'k8s.io'): Envelope =>
  Envelope.fromPartial({
    topic,
    namespace,
    timestamp: { seconds: 5n },
    event: { typeUrl: 'x', value: Buffer.from(value) },
  });
const started = (containerId: string, namespace?: string): Envelope =>
  envelope('/tasks/start', TaskStart.encode({ containerId, pid: 1 }).finish(), namespace);

async function collect(events: AsyncIterable<ContainerdEvent>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { kind, containerId } of events) seen.push(`${kind} ${containerId}`);
  return seen;
}

test('subscribes to its namespace and its topics, and reports what it gets', async (context) => {
  let request: { readonly filters: readonly string[]; readonly namespace: unknown } | undefined;
  const endpoint = await serve(context, (call) => {
    request = { filters: call.request.filters, namespace: call.metadata.get('containerd-namespace') };
    call.write(started('c1'));
    call.write(started('elsewhere', 'moby'));
    const execEnded = TaskExit.encode(TaskExit.fromPartial({ containerId: 'c1', id: 'exec-1' })).finish();
    call.write(envelope('/tasks/exit', execEnded));
    call.write(
      envelope('/tasks/exit', TaskExit.encode(TaskExit.fromPartial({ containerId: 'c1', id: 'c1' })).finish()),
    );
    call.end();
  });
  assert.deepEqual(await collect(containerdEvents({ endpoint, clock, log: silentLog }).events(never)), [
    'started c1',
    'exited c1',
  ]);
  assert.deepEqual(request?.namespace, ['k8s.io']);
  const topics = '/containers/create|/containers/delete|/tasks/start|/tasks/exit|/tasks/delete|/tasks/oom';
  assert.deepEqual(request.filters, [`namespace=="k8s.io",topic~="^(${topics}|/sandboxes/start|/sandboxes/exit)$"`]);
});

test('another namespace may be named', async (context) => {
  const endpoint = await serve(context, (call) => {
    assert.deepEqual(call.metadata.get('containerd-namespace'), ['test']);
    call.write(started('c1'));
    call.write(started('c2', 'test'));
    call.end();
  });
  const events = containerdEvents({ endpoint, namespace: 'test', clock, log: silentLog }).events(never);
  assert.deepEqual(await collect(events), ['started c2']);
});

test('an unreadable message is logged and skipped', async (context) => {
  const log = new MemoryLog();
  const endpoint = await serve(context, (call) => {
    call.write(envelope('/tasks/exit', Uint8Array.of(0x0a, 0xff)));
    call.write(started('c1'));
    call.end();
  });
  assert.deepEqual(await collect(containerdEvents({ endpoint, clock, log }).events(never)), ['started c1']);
  assert.deepEqual(log.messages(), ['An event of containerd cannot be read']);
});

test('a runtime without this service is unsupported', async (context) => {
  const endpoint = await serve(context);
  await assert.rejects(collect(containerdEvents({ endpoint, clock, log: silentLog }).events(never)), (error: Error) => {
    assert.match(describeError(error), /^containerd events: /);
    return 'kind' in error && error.kind === 'unsupported';
  });
});

test('a socket without a listener is unavailable', async () => {
  const endpoint = `unix://${join(folder, 'unused.sock')}`;
  const events = containerdEvents({ endpoint, clock, log: silentLog }).events(never);
  await assert.rejects(collect(events), { kind: 'unavailable' });
});

const failures: Readonly<Record<string, readonly [status, string]>> = {
  'that shuts down': [status.CANCELLED, 'unavailable'],
  'that went away': [status.UNAVAILABLE, 'unavailable'],
  'that refuses us': [status.PERMISSION_DENIED, 'denied'],
  'that does not understand the filter': [status.INVALID_ARGUMENT, 'invalid'],
  'with troubles of its own': [status.UNKNOWN, 'internal'],
};
for (const [name, [code, kind]] of Object.entries(failures)) {
  test(`a containerd ${name} is ${kind}, with its own message`, async (context) => {
    const endpoint = await serve(context, (call) => {
      call.write(started('c1'));
      call.emit('error', { code, details: 'just so' });
    });
    const seen: string[] = [];
    const follow = async (): Promise<void> => {
      const source = containerdEvents({ endpoint, clock, log: silentLog });
      for await (const event of source.events(never)) seen.push(event.kind);
    };
    await assert.rejects(follow(), { kind, remoteMessage: 'just so', message: 'containerd events: just so' });
    assert.deepEqual(seen, ['started']);
  });
}

test('an abort ends it without an error, and cancels the call', async (context) => {
  const stop = new AbortController();
  let left: () => void;
  const gone = new Promise<void>((resolve) => (left = resolve));
  const endpoint = await serve(context, (call) => {
    call.on('cancelled', () => left());
    call.write(started('c1'));
  });
  const seen: string[] = [];
  for await (const { containerId } of containerdEvents({ endpoint, clock, log: silentLog }).events(stop.signal)) {
    seen.push(containerId);
    stop.abort();
  }
  assert.deepEqual(seen, ['c1']);
  await gone;
});

test('the end of a subscription closes its connection', async (context) => {
  let left: () => void;
  const gone = new Promise<void>((resolve) => (left = resolve));
  const endpoint = await serve(context, (call) => {
    call.on('cancelled', () => left());
    call.write(started('c1'));
  });
  for await (const event of containerdEvents({ endpoint, clock, log: silentLog }).events(never)) {
    assert.equal(event.containerId, 'c1');
    break;
  }
  await gone;
});

test('an earlier abort opens nothing', async () => {
  const events = containerdEvents({ endpoint: 'unix:///nowhere', clock, log: silentLog }).events(AbortSignal.abort());
  assert.deepEqual(await collect(events), []);
});
