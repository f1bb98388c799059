import type { Socket } from 'node:net';
import { Incoming, upgrade, type SessionRequest } from './spdy-client.ts';

const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const;
/** Any mask does: it protects proxies, not us. */
const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);

/** A WebSocket whose messages begin with the number of a channel, as sessions with containers use it. */
export class ChannelSocket {
  readonly socket: Socket;
  /** The subprotocol that the server chose. */
  readonly protocol: string | undefined;
  readonly #channels = new Map<number, Incoming>();
  #buffered: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, rest: Buffer, protocol: string | undefined) {
    this.socket = socket;
    this.protocol = protocol;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('close', () => this.#endAll());
    socket.on('error', () => {});
    this.#take(rest);
  }

  static async open(request: SessionRequest, protocols: readonly string[]): Promise<ChannelSocket> {
    const { socket, rest, head } = await upgrade(request, 'GET', [
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `Sec-WebSocket-Protocol: ${protocols.join(', ')}`,
    ]);
    return new ChannelSocket(socket, rest, /\r\nsec-websocket-protocol: (\S+)/i.exec(head)?.[1]);
  }

  channel(number: number): Incoming {
    let incoming = this.#channels.get(number);
    if (incoming === undefined) {
      incoming = new Incoming();
      this.#channels.set(number, incoming);
    }
    return incoming;
  }

  send(channel: number, data: string | Buffer): void {
    this.#send(opcodes.binary, Buffer.concat([Buffer.from([channel]), Buffer.from(data)]));
  }

  close(): void {
    this.socket.destroy();
  }

  #send(opcode: number, payload: Buffer): void {
    const head = Buffer.alloc(10);
    head.writeUInt8(0x80 | opcode, 0);
    head.writeUInt8(0x80 | 127, 1);
    head.writeBigUInt64BE(BigInt(payload.length), 2);
    const masked = Buffer.from(payload);
    for (let index = 0; index < masked.length; index++) masked[index] = (masked[index] ?? 0) ^ (mask[index % 4] ?? 0);
    this.socket.write(Buffer.concat([head, mask, masked]));
  }

  #take(chunk: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    for (;;) {
      const frame = readFrame(this.#buffered);
      if (frame === undefined) return;
      this.#buffered = this.#buffered.subarray(frame.bytes);
      if (frame.opcode === opcodes.ping) this.#send(opcodes.pong, frame.payload);
      else if (frame.opcode === opcodes.close) this.#endAll();
      else if (frame.payload.length > 0) this.channel(frame.payload.readUInt8(0)).take(frame.payload.subarray(1));
    }
  }

  #endAll(): void {
    for (const incoming of this.#channels.values()) incoming.end();
  }
}

/** The first frame, once it is complete. Servers do not mask. */
function readFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly bytes: number } | undefined {
  if (bytes.length < 2) return undefined;
  const opcode = bytes.readUInt8(0) & 0x0f;
  const short = bytes.readUInt8(1) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + length) return undefined;
  return { opcode, payload: bytes.subarray(start, start + length), bytes: start + length };
}
