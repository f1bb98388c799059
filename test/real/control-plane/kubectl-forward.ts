import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SpdyClient, type SessionRequest, type SpdyStream } from '../../support/spdy-client.ts';

/** A connection by way of a forwarded port to somebody who sends everything back. */
export class EchoConnection {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** One at a time: busybox has room for two that it has not accepted yet, and resets more. */
  static async open(port: number): Promise<EchoConnection> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    socket.write('.');
    await once(socket, 'data');
    return new EchoConnection(socket);
  }

  /**
   * What comes back of what is sent, to the end of the connection. It is ended by us when everything is back, and not
   * before: once one side has ended, containerd gives the other no more than a second.
   */
  async exchange(data: Buffer): Promise<Buffer> {
    const socket = this.#socket;
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes === data.length) socket.end();
    });
    socket.write(data);
    await once(socket, 'end');
    return Buffer.concat(chunks);
  }
}

/** What is said of a port where nobody listens, in a session whose other connections, before and behind, go on. */
export async function refusalInSession(request: SessionRequest, nobody: number, echo: number): Promise<string> {
  const client = await SpdyClient.open(request, ['portforward.k8s.io']);
  const open = (port: number, id: number): { readonly data: SpdyStream; readonly error: SpdyStream } => {
    const headers = { port: String(port), requestID: String(id) };
    const error = client.stream({ streamType: 'error', ...headers });
    return { error, data: client.stream({ streamType: 'data', ...headers }) };
  };
  try {
    const before = open(echo, 0).data;
    const refusal = await open(nobody, 1).error.incoming.whole();
    const behind = open(echo, 2).data;
    for (const data of [before, behind]) {
      data.write('still here');
      await data.incoming.until(() => data.incoming.text === 'still here');
    }
    return refusal;
  } finally {
    client.close();
  }
}
