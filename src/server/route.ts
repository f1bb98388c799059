/** The places the agent listens at. */
export type ListenerName = 'readOnly' | 'healthz';

export interface RouteRequest {
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface RouteResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** What is wrong, for the log alone: the client does not see it. */
  readonly problem?: string;
}

/**
 * One endpoint as data: where it can be reached and what it answers. A listener serves exactly the routes that name it,
 * so nothing is reachable by accident.
 */
export interface Route {
  readonly path: string;
  readonly methods: readonly ('GET' | 'HEAD')[];
  readonly listeners: readonly ListenerName[];
  handle(request: RouteRequest): Promise<RouteResponse>;
}

export const text = (status: number, body: string): RouteResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
});

export const json = (value: unknown): RouteResponse => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
});
