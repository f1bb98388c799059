import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../model/caller.ts';
import type { PodFields } from '../model/pod-log.ts';

/** The listeners of the agent. `socket` is the read-only port as a unix socket, which its mode protects. */
export type ListenerName = 'secure' | 'readOnly' | 'socket' | 'healthz';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';

/** A right on this node; `fine` ones give way to `proxy` where the cluster does not know them. */
export interface Right {
  readonly subresource: string;
  /** `proxy` is tried too, and alone when the gate KubeletFineGrainedAuthz is off. */
  readonly fine?: true;
  /** Needed besides the verb of the method, unless the agent shall be as lenient as upstream. */
  readonly alsoVerb?: 'create';
}

/**
 * Why a route may be switched off, and what it says then. `debugging`: enableDebuggingHandlers; on the read-only port
 * such a route is always off.
 */
export type Switch = 'debugging' | 'systemLogs' | 'profiling' | 'debugFlags' | 'checkpoint' | 'statusz' | 'flagz';

/** One endpoint as data: everything about it but what it answers. */
export interface RouteSpec {
  /** `{name}` is one segment, `{name...}` at the end is the rest, which may be empty. */
  readonly path: string;
  readonly methods: readonly Method[];
  readonly listeners: readonly ListenerName[];
  readonly right: Right;
  /** All of them must be on. */
  readonly switches?: readonly Switch[];
  /** The largest body that is read; more is refused. */
  readonly bodyBytes: number;
  /** How long an answer may take in all; undefined for an answer that goes on for as long as the client listens. */
  readonly limitMs: number | undefined;
  readonly streams: 'no' | 'response' | 'upgrade';
}

export interface RouteRequest {
  readonly listener: ListenerName;
  readonly method: string;
  /** Without the query; never ends in a slash but for the root. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** What stands for the names in the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Without credentials. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Undefined on a listener that asks for no credentials. */
  readonly caller: Caller | undefined;
  /** The client wants to go on with another protocol on this connection. */
  readonly wantsUpgrade: boolean;
  /** Aborts when the client goes away, the time is over or the agent stops. */
  readonly signal: AbortSignal;
}

/** Where a streaming answer goes. */
export interface BodySink {
  /** Resolves when the client has room for more; rejects with kind `cancelled` when the client has closed. */
  write(chunk: Uint8Array | string): Promise<void>;
}

export interface Page {
  readonly kind: 'page';
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is wrong, for the log alone: the client does not see it. */
  readonly problem?: string;
}

/** An answer whose end is not known when it begins. Once begun, a failure can only break it off. */
export interface StreamedAnswer {
  readonly kind: 'stream';
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  send(sink: BodySink, signal: AbortSignal): Promise<void>;
}

/** The connection is handed through, byte for byte, to the server at this address. */
export interface HandOver {
  readonly kind: 'handOver';
  readonly to: URL;
  /** Names the pod of the session in the log. */
  readonly about: PodFields;
}

export type RouteResponse = Page | StreamedAnswer | HandOver;

export type Handler = (request: RouteRequest) => Promise<RouteResponse>;

export const text = (status: number, body: string): Page => ({
  kind: 'page',
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
});

export const json = (value: unknown, status = 200): Page => ({
  kind: 'page',
  status,
  contentType: 'application/json',
  body: JSON.stringify(value),
});
