import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';

/** Where a session is asked for. */
export interface SessionRequest {
  readonly host?: string;
  readonly port: number;
  /** With the query. */
  readonly path: string;
  readonly headers?: readonly string[];
  /** By TLS, with whom to trust and who we are; without it in the clear. */
  readonly tls?: ConnectionOptions;
}

/** An answer other than 101. */
export class NoSession extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`${status} ${body}`);
    this.status = status;
    this.body = body;
  }
}

/** Sends a request and gives the connection back when the server has said 101, with what came behind it. */
async function upgrade(
  request: SessionRequest,
  method: string,
  headers: readonly string[],
): Promise<{ readonly socket: Socket; readonly rest: Buffer; readonly head: string }> {
  const { host = '127.0.0.1', port, path, tls } = request;
  const socket = tls === undefined ? connect({ host, port }) : connectSecurely({ ...tls, host, port });
  // A line in several small pieces is not to wait for the other side's acknowledgement of the first.
  socket.setNoDelay(true);
  await once(socket, tls === undefined ? 'connect' : 'secureConnect');
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}:${port}`, 'Connection: Upgrade', ...headers];
  socket.write([...lines, ...(request.headers ?? []), '', ''].join('\r\n'));
  let received = Buffer.alloc(0);
  while (received.indexOf('\r\n\r\n') < 0) received = Buffer.concat([received, await nextChunk(socket)]);
  const end = received.indexOf('\r\n\r\n') + 4;
  const head = received.subarray(0, end).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  if (status === 101) return { socket, rest: received.subarray(end), head };
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  while (received.length < end + length) received = Buffer.concat([received, await nextChunk(socket)]);
  socket.destroy();
  throw new NoSession(status, received.subarray(end).toString('utf8'));
}

async function nextChunk(socket: Socket): Promise<Buffer> {
  for (;;) {
    const chunk = socket.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (socket.readableEnded) throw new Error('the connection ended early');
    await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
}

/** What came on a stream of a session, for as long as it lasts. */
export class Incoming {
  readonly #chunks: Buffer[] = [];
  readonly #waiting = new Set<() => void>();
  #bytes = 0;
  #ended = false;

  take(chunk: Buffer): void {
    if (chunk.length > 0) this.#chunks.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  get ended(): boolean {
    return this.#ended;
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#ended) throw new Error(`it ended before: ${this.text.slice(0, 1_000)}`);
      await new Promise<void>((resolve) => void this.#waiting.add(resolve));
    }
  }

  /** Everything, once the other side has said that there is no more. */
  async whole(): Promise<string> {
    await this.until(() => this.#ended);
    return this.text;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

const types = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7 } as const;
const finFlag = 1;
const controlBit = 0x8000_0000;
const version = 3;
/** An empty stored block: whoever inflates hands out what there is. */
const flushMark = Buffer.from([0, 0, 0, 0xff, 0xff]);

export class SpdyStream {
  readonly incoming = new Incoming();
  readonly #send: (flags: number, data: Buffer) => void;

  constructor(send: (flags: number, data: Buffer) => void) {
    this.#send = send;
  }

  write(data: string | Buffer): void {
    this.#send(0, Buffer.from(data));
  }

  /** Our direction ends; the other goes on. */
  end(data: string | Buffer = ''): void {
    this.#send(finFlag, Buffer.from(data));
  }
}

/**
 * As much of SPDY/3.1 as sessions with containers need, from the client's side. Header blocks go out as stored blocks of
 * an uncompressed stream, which every inflater takes; those that come in tell nothing of interest and are not read.
 */
export class SpdyClient {
  readonly socket: Socket;
  readonly #streams = new Map<number, SpdyStream>();
  #buffered: Buffer = Buffer.alloc(0);
  #nextId = 1;
  #blocksSent = 0;

  private constructor(socket: Socket, rest: Buffer) {
    this.socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('close', () => {
      for (const { incoming } of this.#streams.values()) incoming.end();
    });
    socket.on('error', () => {});
    this.#take(rest);
  }

  static async open(request: SessionRequest, protocols: readonly string[]): Promise<SpdyClient> {
    const versions = protocols.map((protocol) => `X-Stream-Protocol-Version: ${protocol}`);
    const { socket, rest } = await upgrade(request, 'POST', ['Upgrade: SPDY/3.1', 'Content-Length: 0', ...versions]);
    return new SpdyClient(socket, rest);
  }

  stream(headers: Readonly<Record<string, string>>): SpdyStream {
    const id = this.#nextId;
    this.#nextId += 2;
    const fixed = Buffer.alloc(10);
    fixed.writeUInt32BE(id, 0);
    this.#control(types.synStream, 0, Buffer.concat([fixed, this.#headerBlock(headers)]));
    const stream = new SpdyStream((flags, data) => this.#data(id, flags, data));
    this.#streams.set(id, stream);
    return stream;
  }

  close(): void {
    this.socket.destroy();
  }

  #headerBlock(headers: Readonly<Record<string, string>>): Buffer {
    const parts = Object.entries(headers).flatMap(([name, value]) => [name.toLowerCase(), value]);
    const plain = Buffer.concat([
      uint32(parts.length / 2),
      ...parts.flatMap((part) => [uint32(Buffer.byteLength(part)), Buffer.from(part)]),
    ]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(plain.length, 1);
    stored.writeUInt16LE(~plain.length & 0xffff, 3);
    const zlibHeader = this.#blocksSent++ === 0 ? Buffer.from([0x78, 0x01]) : Buffer.alloc(0);
    return Buffer.concat([zlibHeader, stored, plain, flushMark]);
  }

  #control(type: number, flags: number, payload: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeUInt32BE((controlBit | (version << 16) | type) >>> 0, 0);
    head.writeUInt32BE(payload.length, 4);
    head.writeUInt8(flags, 4);
    this.socket.write(Buffer.concat([head, payload]));
  }

  #data(id: number, flags: number, data: Buffer): void {
    const most = (1 << 24) - 1;
    for (let at = 0; at === 0 || at < data.length; at += most) {
      const part = data.subarray(at, at + most);
      const head = Buffer.alloc(8);
      head.writeUInt32BE(id, 0);
      head.writeUInt32BE(part.length, 4);
      head.writeUInt8(at + most < data.length ? 0 : flags, 4);
      this.socket.write(head);
      this.socket.write(part);
    }
  }

  #take(chunk: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    let at = 0;
    while (this.#buffered.length - at >= 8) {
      const length = this.#buffered.readUInt32BE(at + 4) & 0xff_ffff;
      if (this.#buffered.length - at < 8 + length) break;
      this.#frame(this.#buffered.subarray(at, at + 8), this.#buffered.subarray(at + 8, at + 8 + length));
      at += 8 + length;
    }
    this.#buffered = this.#buffered.subarray(at);
  }

  #frame(head: Buffer, payload: Buffer): void {
    const word = head.readUInt32BE(0);
    const isFin = (head.readUInt8(4) & finFlag) !== 0;
    if (word < controlBit) {
      const stream = this.#streams.get(word);
      stream?.incoming.take(payload);
      if (isFin) stream?.incoming.end();
      return;
    }
    const type = word & 0xffff;
    if (type === types.ping) this.#control(types.ping, 0, payload);
    const stream =
      type === types.synReply || type === types.rstStream ? this.#streams.get(payload.readUInt32BE(0)) : undefined;
    if (type === types.rstStream || isFin) stream?.incoming.end();
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
