import type { Http2Session } from 'node:http2';
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** Ends an HTTP/2 connection on which there has been no request for a while, from its beginning on. */
export function endIdleSession(session: Http2Session, clock: Pick<Clock, 'after'>, idleMs: number): void {
  let open = 0;
  let cancel: CancelTimer = () => {};
  const rest = (): void => {
    cancel = clock.after(idleMs, () => session.destroy());
  };
  session.on('stream', (stream) => {
    if (open++ === 0) cancel();
    stream.once('close', () => {
      if (--open === 0 && !session.destroyed) rest();
    });
  });
  session.once('close', () => cancel());
  rest();
}
