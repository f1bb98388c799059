import type { Calls } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';

/** An open descriptor that another program handed over. */
export interface Descriptor {
  /** Harmless when repeated. */
  close(): void;
}

/** A connected socket. */
export interface Transport {
  write(bytes: Uint8Array): void;
  /** `onClosed` is called still. */
  close(): void;
}

export interface TransportEvents {
  onBytes(bytes: Uint8Array, descriptors: readonly Descriptor[]): void;
  /** Called once, at the end. */
  onClosed(error?: Error): void;
}

/** Connects to a unix socket: a path, or with `@` before it a name in the abstract namespace. */
export type OpenTransport = (socketName: string, events: TransportEvents) => Promise<Transport>;

export interface BusPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly calls: Calls;
}
