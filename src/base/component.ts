/**
 * The life of a component. Constructors only store; I/O begins in `start`.
 *
 *   made ──start──> starting ──ready──> running ──stop──> stopped
 *
 * `start` returns when the component can serve the components that start after it; its loops run until the signal of
 * `start` aborts or `stop` is called.
 */
export interface Component {
  readonly name: string;
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}
