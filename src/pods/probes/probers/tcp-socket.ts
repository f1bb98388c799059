import { connect } from 'node:net';
import { withTimeout } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { isKind } from '../../../base/errors.ts';
import type { Prober } from '../ports.ts';
import { containerPort } from './container-port.ts';
import { dialFailure, dialTimeout } from '../../../model/network-text.ts';
import { noAddressYet } from './no-address.ts';

/** A connection that can be made is success. */
export function tcpProber(clock: Clock): Prober {
  return async ({ probe, container, podIp, timeoutMs }, signal) => {
    const resolved = containerPort(probe.tcpSocket?.port ?? 0, container);
    if ('error' in resolved) return { kind: 'error', state: 'unknown', ...resolved };
    const { port } = resolved;
    const host = probe.tcpSocket?.host || podIp;
    if (host === undefined || host === '') return noAddressYet;
    try {
      await withTimeout(clock, timeoutMs, (limit) => connectOnce(host, port, limit), signal);
      return { kind: 'success', output: '' };
    } catch (error) {
      signal.throwIfAborted();
      if (isKind(error, 'timeout')) return { kind: 'failure', output: dialTimeout(host, port), unanswered: true };
      return { kind: 'failure', output: dialFailure(host, port, error) };
    }
  };
}

function connectOnce(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const close = (): void => void socket.destroy();
    signal.addEventListener('abort', close, { once: true });
    socket.once('connect', () => {
      close();
      resolve();
    });
    // The listener stays, because errors may come after the end.
    socket.on('error', reject);
  });
}
