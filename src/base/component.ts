/**
 * The life of a component. Constructors only store; I/O begins in `start`.
 *
 *   made ──start──> starting ──ready──> running ──stop──> stopped
 *
 * `start` returns when the component can serve those that come after it; work that goes on for ever runs behind it until
 * the signal given to `start` aborts or `stop` is called.
 */
export interface Component {
  readonly name: string;
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}
