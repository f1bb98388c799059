import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Clock } from '../../../base/clock.ts';
import { containerId } from '../../../base/ids.ts';
import { systemClock } from '../../../base/system-clock.ts';
import type { Container, TCPSocketAction } from '../../../gen/kubernetes/types.ts';
import { aContainer, aPod } from '../../../testing/pods.ts';
import type { ProbeTarget } from '../ports.ts';
import { tcpProber } from './tcp-socket.ts';

const signal = new AbortController().signal;

function target(
  tcpSocket: TCPSocketAction,
  more: Partial<ProbeTarget> = {},
  container: Partial<Container> = {},
): ProbeTarget {
  return {
    pod: aPod(),
    container: aContainer('main', container),
    containerId: containerId('c0'),
    probe: { tcpSocket },
    podIp: '127.0.0.1',
    timeoutMs: 5_000,
    ...more,
  };
}

async function listen(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('a connection is success, by number or by name, and is closed', async () => {
  const { server, port } = await listen();
  const probe = tcpProber(systemClock());
  const connected = once(server, 'connection');
  assert.deepEqual(await probe(target({ port }), signal), { kind: 'success', output: '' });
  const [socket] = await connected;
  socket.resume();
  await once(socket, 'close');
  const ports = [{ name: 'web', containerPort: port }];
  assert.equal((await probe(target({ port: 'web' }, {}, { ports }), signal)).kind, 'success');
  assert.equal((await probe(target({ port, host: '127.0.0.1' }, { podIp: '203.0.113.1' }), signal)).kind, 'success');
  server.close();
});

test('a refusal is failure, with the message of upstream', async () => {
  const { server, port } = await listen();
  server.close();
  await once(server, 'close');
  assert.deepEqual(await tcpProber(systemClock())(target({ port }), signal), {
    kind: 'failure',
    output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});

test('a port that the container does not have is an error', async () => {
  const probe = tcpProber(systemClock());
  assert.deepEqual(await probe(target({ port: 'web' }), signal), {
    kind: 'error',
    state: 'unknown',
    error: 'strconv.Atoi: parsing "web": invalid syntax',
  });
  assert.deepEqual(await probe(target({ port: 0 }), signal), {
    kind: 'error',
    state: 'unknown',
    error: 'invalid port number: 0',
  });
});

test('a pod without an address is not probed at whatever this node listens on', async () => {
  assert.equal(
    (await tcpProber(systemClock())(target({ port: 80 }, { podIp: undefined }), signal)).kind,
    'inconclusive',
  );
});

/** Time is over before the network gets a turn. */
const impatient: Clock = {
  ...systemClock(),
  after(_ms, callback) {
    queueMicrotask(callback);
    return () => {};
  },
};

test('a connection that is not made in time is unanswered', async () => {
  const { server, port } = await listen();
  assert.deepEqual(await tcpProber(impatient)(target({ port }), signal), {
    kind: 'failure',
    output: `dial tcp 127.0.0.1:${port}: i/o timeout`,
    unanswered: true,
  });
  server.close();
});

test('an abort rejects', async () => {
  const { server, port } = await listen();
  const stop = new AbortController();
  const outcome = tcpProber(systemClock())(target({ port }), stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(outcome, /enough/);
  server.close();
});
