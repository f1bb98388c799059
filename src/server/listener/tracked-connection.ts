import type { Socket } from 'node:net';
import type { ConnectionStage } from './connection-shares.ts';

interface ConnectionOwner {
  stageChanged(stage: ConnectionStage): void;
  /** Undefined when the limit of authenticated connections is reached; else call the returned function when it has ended. */
  authenticate(name: string): (() => void) | undefined;
}

/** One connection, from its acceptance to its end, however many layers and requests are on top of it. */
export class TrackedConnection {
  readonly address: string;
  readonly acceptedAtMs: number;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #stage: ConnectionStage = 'silent';
  #caller: string | undefined;
  /** Bytes that had come when a request was whole. */
  #mark = 0;
  #isRefused = false;
  /** What is called for the requests under way when the connection is closed. */
  readonly #underWay = new Set<{ readonly onClosed: () => void }>();
  #onAuthenticated: () => void = () => {};

  constructor(socket: Socket, address: string, acceptedAtMs: number, owner: ConnectionOwner) {
    this.#socket = socket;
    this.address = address;
    this.acceptedAtMs = acceptedAtMs;
    this.#owner = owner;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  get stage(): ConnectionStage {
    return this.#stage;
  }

  /** The caller whose connection it is; undefined before authentication. */
  get caller(): string | undefined {
    return this.#caller;
  }

  get isAuthenticated(): boolean {
    return this.#caller !== undefined;
  }

  /** Requests whose headers have come and whose answer is not sent. */
  get underWay(): number {
    return this.#underWay.size;
  }

  get unfinishedBytes(): number {
    return this.#isRefused ? 0 : Math.max(0, this.#socket.bytesRead - this.#mark);
  }

  /** Something has come. */
  spoke(): void {
    if (this.#stage === 'silent') this.#enter('speaking');
  }

  /**
   * The headers of a request are whole; call what is returned when it is over. When the connection is closed before,
   * `onClosed` is called: over HTTP/1.1 the second of several requests would not learn of it.
   */
  begin(onClosed: () => void = () => {}): () => void {
    const request = { onClosed };
    this.#underWay.add(request);
    this.#mark = this.#socket.bytesRead;
    if (this.#stage !== 'asked') this.#enter('asked');
    return () => {
      this.#underWay.delete(request);
      this.#mark = this.#socket.bytesRead;
    };
  }

  /** It is read to its end, and nothing of it is kept. */
  refused(): void {
    this.#isRefused = true;
  }

  closed(): void {
    for (const { onClosed } of this.#underWay) onClosed();
  }

  /**
   * It is known now who is at the other end, and the connection does not give way to others any more. When this caller
   * has too many such connections already, nothing changes.
   */
  authenticated(name: string): void {
    if (this.isAuthenticated || !this.isOpen) return;
    const leave = this.#owner.authenticate(name);
    if (leave === undefined) return;
    this.#caller = name;
    this.#socket.once('close', leave);
    this.#onAuthenticated();
  }

  /** Called once, at once where it is known already. */
  whenAuthenticated(listener: () => void): void {
    if (this.isAuthenticated) listener();
    else this.#onAuthenticated = listener;
  }

  end(): void {
    this.#socket.destroy();
  }

  #enter(stage: ConnectionStage): void {
    this.#stage = stage;
    this.#owner.stageChanged(stage);
  }
}
