import { once } from 'node:events';
import { WebSocket } from 'ws';
import { Incoming, NoSession, type SessionRequest } from './spdy-client.ts';

/** A WebSocket whose messages begin with the number of a channel, as sessions with containers use it. */
export class ChannelSocket {
  readonly #socket: WebSocket;
  readonly #channels = new Map<number, Incoming>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.binaryType = 'nodebuffer';
    socket.on('message', (data: Buffer) => {
      if (data.length > 0) this.channel(data.readUInt8(0)).take(data.subarray(1));
    });
    socket.on('close', () => {
      for (const incoming of this.#channels.values()) incoming.end();
    });
    // The end of the connection says the same, and each channel shows it.
    socket.on('error', () => {});
  }

  /** Fails with `NoSession` on any other answer than 101. */
  static async open(request: SessionRequest, protocols: readonly string[]): Promise<ChannelSocket> {
    const { host = '127.0.0.1', port, path, tls, headers = [] } = request;
    const socket = new WebSocket(`${tls === undefined ? 'ws' : 'wss'}://${host}:${port}${path}`, [...protocols], {
      ...tls,
      headers: Object.fromEntries(headers.map((line) => line.split(/: (.*)/s, 2) as [string, string])),
      perMessageDeflate: false,
    });
    // Before anything is awaited: messages may come in the same packet as the answer.
    const opened = new ChannelSocket(socket);
    const refused = new Promise<never>((_, reject) => {
      socket.on('unexpected-response', (_request, response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          reject(new NoSession(response.statusCode ?? 0, Buffer.concat(pieces).toString('utf8')));
          socket.terminate();
        });
      });
    });
    await Promise.race([once(socket, 'open'), refused]);
    return opened;
  }

  /** The subprotocol that the server chose. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  channel(number: number): Incoming {
    let incoming = this.#channels.get(number);
    if (incoming === undefined) {
      incoming = new Incoming();
      if (this.#socket.readyState === WebSocket.CLOSED) incoming.end();
      this.#channels.set(number, incoming);
    }
    return incoming;
  }

  send(channel: number, data: string | Buffer): void {
    this.#socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(data)]));
  }

  close(): void {
    this.#socket.terminate();
  }
}
