import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { streamPieces } from './stream-pieces.ts';

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces) chunks.push(piece);
  return Buffer.concat(chunks).toString();
}

/** An answer over HTTP/2, handed out once the stream is done on this side. */
async function answer(context: TestContext, respond: (stream: http2.ServerHttp2Stream) => void) {
  const server = http2.createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    respond(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.on('error', () => {});
  context.after(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ':path': '/' });
  await once(stream, 'response');
  while (!stream.closed) await new Promise(setImmediate);
  return stream;
}

test('an answer that was complete before it was read is whole', async (context) => {
  const stream = await answer(context, (served) => served.end('complete'));
  assert.equal(await textOf(streamPieces(stream)), 'complete');
  assert.equal(stream.readableEnded, true);
});

test('an answer without a body ends', async (context) => {
  const stream = await answer(context, (served) => served.end());
  assert.equal(await textOf(streamPieces(stream)), '');
  assert.equal(stream.readableEnded, true);
});

test('an answer that was cut off gives its pieces, and has not ended', async (context) => {
  const stream = await answer(context, (served) => {
    served.write('part');
    setTimeout(() => served.session?.destroy(), 20);
  });
  assert.equal(await textOf(streamPieces(stream)), 'part');
  assert.equal(stream.readableEnded, false);
});

test('an error is thrown, a stream that waits is woken, and no listener stays', async () => {
  const source = new PassThrough();
  source.on('error', () => {});
  const before = source.listenerCount('readable');
  const pieces = streamPieces(source);
  const first = pieces.next();
  setImmediate(() => source.write('one'));
  assert.equal(String((await first).value), 'one');
  const second = pieces.next();
  setImmediate(() => source.destroy(new Error('lost')));
  await assert.rejects(second, /lost/);
  assert.equal(source.listenerCount('readable'), before);

  const left = new PassThrough();
  left.write('one');
  for await (const piece of streamPieces(left)) {
    assert.equal(String(piece), 'one');
    break;
  }
  assert.equal(left.listenerCount('close'), new PassThrough().listenerCount('close'));
});
