import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { accepted, asks, HandOverWorld, leave } from '../../testing/hand-over-world.ts';

let world: HandOverWorld;
beforeEach(async () => {
  world = new HandOverWorld();
  await world.start();
});
afterEach(() => world.end());

describe('the handshake', () => {
  test('method and headers are the client’s, path and host those of the runtime, and there are no credentials', async () => {
    const { client, served } = await world.open(
      asks([
        'Authorization: Bearer secret',
        'X-Stream-Protocol-Version: v5.channel.k8s.io',
        'X-Stream-Protocol-Version: v4.channel.k8s.io',
        'Content-Length: 0',
        'User-Agent: kubectl/v1.34',
      ]),
    );
    assert.equal(
      served.text,
      [
        'POST /exec/token1?a=b HTTP/1.1',
        `Host: 127.0.0.1:${world.runtime.port}`,
        'upgrade: SPDY/3.1',
        'connection: Upgrade',
        'x-stream-protocol-version: v5.channel.k8s.io',
        'x-stream-protocol-version: v4.channel.k8s.io',
        'user-agent: kubectl/v1.34',
        '\r\n',
      ].join('\r\n'),
    );
    assert.equal(client.text, accepted, 'the answer comes byte for byte');
    await leave({ client, served });
  });

  test('an answer that comes in pieces, with the first bytes of the session behind it', async () => {
    const client = world.front.connect();
    client.socket.write(asks([], 'GET'));
    const served = await world.runtime.next();
    await served.received('GET /exec/token1');
    for (const piece of ['HTT', 'P/1.1 10', accepted.slice(11), 'early']) {
      served.socket.write(piece);
      await world.clock.settle();
    }
    await client.received('early');
    assert.equal(client.text, `${accepted}early`);
    await leave({ client, served });
  });

  test('what the client sends before the answer waits for it, in order', async () => {
    const client = world.front.connect();
    client.socket.write(`${asks()}head `);
    const served = await world.runtime.next();
    await served.received('\r\n\r\n');
    client.socket.write('and more');
    await world.clock.settle();
    assert.ok(served.text.endsWith('\r\n\r\n'), 'nothing went ahead');
    served.socket.write(accepted);
    await served.received('head and more');
    await leave({ client, served });
  });
});

describe('an open session', () => {
  test('websocket frames and all other bytes are as they were', async () => {
    const { client, served } = await world.open();
    const frames = Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7) % 256));
    const [toServed, toClient] = [served.count, client.count];
    client.socket.write(frames);
    served.socket.write(frames.toReversed());
    await served.until('all frames', () => served.count === toServed + frames.length);
    await client.until('all frames', () => client.count === toClient + frames.length);
    assert.deepEqual(served.bytes.subarray(toServed), frames);
    assert.deepEqual(client.bytes.subarray(toClient), Buffer.from(frames.toReversed()));
    await leave({ client, served });
  });

  test('the client’s end reaches the runtime, which may go on talking for a while', async () => {
    const { client, served } = await world.open();
    client.socket.end('last of the client');
    await served.heardEnd();
    assert.match(served.text, /last of the client$/);
    await world.clock.advance(9_000);
    served.socket.end('still here');
    await client.heardEnd();
    assert.match(client.text, /still here$/);
    await Promise.all([client.closed(), served.closed()]);
  });

  test('a client that vanished without closing does not hold its session for as long as the command runs', async () => {
    const { client, served } = await world.open();
    client.socket.end();
    await served.heardEnd();
    await world.clock.advance(10_000);
    await world.front.settled();
    await Promise.all([client.over(), served.over()]);
    served.socket.destroy();
  });

  test('the runtime’s end reaches the client, which may go on talking', async () => {
    const { client, served } = await world.open();
    served.socket.end('last of the runtime');
    await client.heardEnd();
    assert.match(client.text, /last of the runtime$/);
    client.socket.write('one more');
    await served.received('one more');
    client.socket.end();
    await Promise.all([client.closed(), served.closed()]);
  });

  test('a client that does not leave after the runtime’s end is sent away in time', async () => {
    const { client, served } = await world.open();
    served.socket.end();
    await client.heardEnd();
    await world.clock.advance(29_000);
    assert.equal(world.ended, 0);
    await world.clock.advance(1_000);
    await world.front.settled();
    await Promise.all([client.over(), served.over()]);
    client.socket.destroy();
  });

  test('megabytes both ways at once, to slow readers, wait in neither process', async () => {
    const { client, served } = await world.open();
    const [toServed, toClient] = [served.count, client.count];
    const bytes = Buffer.alloc(24 << 20, 'x');
    client.socket.pause();
    served.socket.pause();
    client.socket.write(bytes);
    served.socket.write(bytes);
    await world.clock.settle();
    // A reader that stops makes its sender wait: most of it was not sent.
    assert.ok(client.socket.writableLength > 0 && served.socket.writableLength > 0);
    served.socket.resume();
    await served.until('all of it', () => served.count - toServed === bytes.length);
    client.socket.resume();
    await client.until('all of it', () => client.count - toClient === bytes.length);
    client.socket.end();
    served.socket.end();
    await Promise.all([client.closed(), served.closed()]);
  });

  test('the tail reaches a slow client also when the runtime has closed and the client keeps sending', async () => {
    const { client, served } = await world.open();
    const before = client.count;
    const bytes = Buffer.alloc(4 << 20, 'y');
    client.socket.pause();
    served.socket.end(bytes);
    client.socket.write('more and more');
    await world.clock.settle();
    client.socket.resume();
    await client.heardEnd();
    assert.equal(client.count - before, bytes.length);
    client.socket.end();
    await Promise.all([client.closed(), served.closed()]);
  });

  test('a runtime that dies ends the client', async () => {
    const { client, served } = await world.open();
    served.socket.resetAndDestroy();
    await world.front.settled();
    await client.over();
    client.socket.destroy();
  });

  test('a client that dies ends the runtime’s connection', async () => {
    const { client, served } = await world.open();
    client.socket.resetAndDestroy();
    await world.front.settled();
    await served.over();
    served.socket.destroy();
  });

  test('the agent’s stop ends both', async () => {
    const { client, served } = await world.open();
    world.stop.abort();
    await world.front.settled();
    await Promise.all([client.over(), served.over()]);
    client.socket.destroy();
    served.socket.destroy();
  });

  test('listeners do not grow with the bytes', async () => {
    const { client, served } = await world.open();
    const before = world.listeners();
    for (let round = 0; round < 50; round++) {
      client.socket.write(`ping ${round};`);
      await served.received(`ping ${round};`);
      served.socket.write(`pong ${round};`);
      await client.received(`pong ${round};`);
    }
    assert.equal(world.listeners(), before);
    client.socket.end();
    served.socket.end();
    await Promise.all([client.closed(), served.closed()]);
  });

  test('two hundred at once, each with its own bytes', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const client = world.front.connect();
        client.socket.write(asks([`X-Number: ${index}`]));
        return client;
      }),
    );
    for (let index = 0; index < pairs.length; index++) {
      const served = await world.runtime.next();
      await served.received('\r\n\r\n');
      const number = /x-number: (\d+)/.exec(served.text)?.[1];
      served.socket.end(`${accepted}you are ${number}.`);
    }
    for (const [index, client] of pairs.entries()) {
      await client.heardEnd();
      assert.ok(client.text.endsWith(`you are ${index}.`));
      client.socket.end();
      await client.closed();
    }
  });
});

describe('silence', () => {
  beforeEach(() => (world.idleMs = 60_000));

  test('ends a session when it lasts', async () => {
    const { client, served } = await world.open();
    await world.clock.advance(59_000);
    assert.equal(world.ended, 0);
    await world.clock.advance(1_000);
    await world.front.settled();
    await Promise.all([client.over(), served.over()]);
    client.socket.destroy();
    served.socket.destroy();
  });

  test('of one side only does not', async () => {
    const { client, served } = await world.open();
    for (let round = 0; round < 4; round++) {
      await world.clock.advance(50_000);
      served.socket.write(`${round};`);
      await client.received(`${round};`);
    }
    assert.equal(world.ended, 0);
    await world.clock.advance(60_000);
    await world.front.settled();
    client.socket.destroy();
    served.socket.destroy();
  });
});
