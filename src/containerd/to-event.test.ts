import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContainerCreate,
  ContainerDelete,
  Envelope,
  SandboxExit,
  SandboxStart,
  TaskDelete,
  TaskExit,
  TaskOOM,
  TaskStart,
} from '../gen/containerd/events.ts';
import { toEvent, topics } from './to-event.ts';

const now = 7_000;
const timestamp = { seconds: 5n, nanos: 999_999_999 };
const exitedAt = { seconds: 4n, nanos: 1_000_000 };
const bytes = {
  start: TaskStart.encode({ containerId: 'c1', pid: 7 }).finish(),
  oom: TaskOOM.encode({ containerId: 'c1' }).finish(),
  create: ContainerCreate.encode({ id: 'c1', image: 'example.com/a:1' }).finish(),
  remove: ContainerDelete.encode({ id: 'c1' }).finish(),
  sandboxStart: SandboxStart.encode({ sandboxId: 's1' }).finish(),
  sandboxExit: SandboxExit.encode({ sandboxId: 's1', exitStatus: 0, exitedAt }).finish(),
  exit: (id: string) => TaskExit.encode({ containerId: 'c1', id, pid: 7, exitStatus: 3, exitedAt }).finish(),
  delete: (id: string) => TaskDelete.encode({ containerId: 'c1', id, pid: 7, exitStatus: 3, exitedAt }).finish(),
};

const read = (topic: string, value: Uint8Array) =>
  toEvent(Envelope.fromPartial({ topic, timestamp, event: { typeUrl: 'x', value: Buffer.from(value) } }), now);

const cases: Readonly<Record<string, readonly [string, Uint8Array, unknown]>> = {
  'a start': ['/tasks/start', bytes.start, { kind: 'started', containerId: 'c1', at: 5_999 }],
  'an exit, at the time of the exit': [
    '/tasks/exit',
    bytes.exit('c1'),
    { kind: 'exited', containerId: 'c1', at: 4_001 },
  ],
  'the exit of an exec': ['/tasks/exit', bytes.exit('exec-1'), undefined],
  'an exit that was cleaned up': ['/tasks/delete', bytes.delete(''), { kind: 'exited', containerId: 'c1', at: 4_001 }],
  'the same, with the id spelt out': [
    '/tasks/delete',
    bytes.delete('c1'),
    { kind: 'exited', containerId: 'c1', at: 4_001 },
  ],
  'an exec that was cleaned up': ['/tasks/delete', bytes.delete('exec-1'), undefined],
  'memory ran out': ['/tasks/oom', bytes.oom, { kind: 'oom', containerId: 'c1', at: 5_999 }],
  'a container': ['/containers/create', bytes.create, { kind: 'created', containerId: 'c1', at: 5_999 }],
  'no container any more': ['/containers/delete', bytes.remove, { kind: 'removed', containerId: 'c1', at: 5_999 }],
  'a sandbox started': ['/sandboxes/start', bytes.sandboxStart, { kind: 'started', containerId: 's1', at: 5_999 }],
  'a sandbox ended': ['/sandboxes/exit', bytes.sandboxExit, { kind: 'exited', containerId: 's1', at: 4_001 }],
  'a topic that was not subscribed': ['/images/create', bytes.create, undefined],
  'a topic that is a word of the language': ['constructor', bytes.create, undefined],
  'a message without a name': ['/tasks/start', new Uint8Array(), undefined],
};

for (const [name, [topic, value, event]] of Object.entries(cases)) {
  test(`event: ${name}`, () => assert.deepEqual(read(topic, value), event));
}

test('without a time it is the current one', () => {
  const envelope = Envelope.fromPartial({
    topic: '/tasks/start',
    event: { typeUrl: 'x', value: Buffer.from(bytes.start) },
  });
  assert.equal(toEvent(envelope, now)?.at, now);
});

test('an envelope without a message is ignored', () => {
  assert.equal(toEvent(Envelope.fromPartial({ topic: '/tasks/start' }), now), undefined);
});

test('bytes that are not a message are an error', () => {
  assert.throws(() => read('/tasks/exit', Uint8Array.of(0x0a, 0xff)));
});

test('every topic is a path of letters, which a filter may hold as it is', () => {
  for (const topic of topics) assert.match(topic, /^\/[a-z]+\/[a-z]+$/);
});
