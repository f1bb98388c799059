import assert from 'node:assert/strict';
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { array, inout, load, pointer, struct } from 'koffi';
import { systemClock } from '../base/system-clock.ts';
import { fdSockets } from './fd-sockets.ts';

const libc = load(null);
const vector = struct({ data: 'void *', length: 'size_t' });
const control = struct({ length: 'size_t', level: 'int', type: 'int', fds: array('int', 20) });
const header = struct({
  name: 'void *',
  nameLength: 'uint32_t',
  vectors: pointer(vector),
  vectorCount: 'size_t',
  control: pointer(control),
  controlLength: 'size_t',
  flags: 'int',
});
const sendmsg = libc.func('sendmsg', 'long', ['int', inout(pointer(header)), 'int']);

/** Sends bytes and descriptors, as another program does. */
function send(socket: Socket, bytes: Buffer, fds: readonly number[]): void {
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
  const rights = {
    length: 16 + 4 * fds.length,
    level: 1,
    type: 1,
    fds: [...fds, ...Array<number>(20 - fds.length).fill(0)],
  };
  const message = {
    name: null,
    nameLength: 0,
    vectors: { data: bytes, length: bytes.length },
    vectorCount: 1,
    control: rights,
    controlLength: 16 + 8 * Math.ceil(fds.length / 2),
    flags: 0,
  };
  assert.equal(sendmsg(fd, message, 0), bytes.length);
}

async function pair(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-descriptors-'));
  const path = join(folder, 'socket');
  const server = createServer();
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const received: { text: string; descriptors: readonly { close(): void }[] }[] = [];
  let ended: (error: Error | undefined) => void = () => {};
  const closed = new Promise<Error | undefined>((resolve) => (ended = resolve));
  const socket = await fdSockets(systemClock())(path, {
    onBytes: (bytes, descriptors) => void received.push({ text: Buffer.from(bytes).toString(), descriptors }),
    onClosed: (error) => ended(error),
  });
  const other = await accepted;
  context.after(() => {
    socket.close();
    other.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const until = async (count: number): Promise<void> => {
    while (received.length < count) await systemClock().sleep(2);
  };
  return { path, socket, other, received, closed, until };
}

test('bytes go both ways, and the end of the other side is reported', async (context) => {
  const { socket, other, received, closed, until } = await pair(context);
  const heard = new Promise((resolve) => other.once('data', (bytes) => resolve(bytes.toString())));
  socket.write(Buffer.from('hello'));
  assert.equal(await heard, 'hello');
  other.write('x'.repeat(10_000));
  await until(3);
  assert.equal(received.map(({ text }) => text).join('').length, 10_000);
  other.end();
  assert.equal(await closed, undefined);
  socket.close();
});

test('descriptors arrive open, in any number, and are closed once', async (context) => {
  const { path, other, received, until } = await pair(context);
  const file = `${path}.txt`;
  writeFileSync(file, 'content');
  for (const count of [1, 2, 3]) {
    const fds = Array.from({ length: count }, () => openSync(file, 'r'));
    received.length = 0;
    send(other, Buffer.from(`with ${count}`), fds);
    for (const fd of fds) closeSync(fd);
    await until(1);
    const [{ text, descriptors } = assert.fail()] = received;
    assert.deepEqual([text, descriptors.length], [`with ${count}`, count]);
    for (const descriptor of descriptors) {
      descriptor.close();
      descriptor.close();
    }
  }
});

test('what a descriptor holds is held until it is closed', async (context) => {
  const { other, received, until } = await pair(context);
  const { read, write } = openPipe();
  send(other, Buffer.from('lock'), [write]);
  closeSync(write);
  await until(1);
  assert.equal(endOf(read), false);
  received[0]?.descriptors[0]?.close();
  assert.equal(endOf(read), true);
  closeSync(read);
});

test('a socket that is not there is an error, and leaves nothing open', async () => {
  const before = lastDescriptor();
  await assert.rejects(fdSockets(systemClock())('/nowhere/socket', { onBytes() {}, onClosed() {} }), {
    kind: 'notFound',
  });
  assert.equal(lastDescriptor(), before);
});

/** The number that the next descriptor gets. */
function lastDescriptor(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}

function openPipe(): { read: number; write: number } {
  const numbers = Buffer.alloc(8);
  assert.equal(libc.func('int pipe2(_Out_ void *numbers, int flags)')(numbers, 0o4000), 0);
  const [read = 0, write = 0] = new Int32Array(new Uint8Array(numbers).buffer);
  assert.ok(fstatSync(read).isFIFO());
  return { read, write };
}

/** Whether a pipe has no writer any more. */
function endOf(pipe: number): boolean {
  try {
    return readSync(pipe, Buffer.alloc(1)) === 0;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
    return false;
  }
}
