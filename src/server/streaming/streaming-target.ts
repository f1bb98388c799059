import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { TubeletError } from '../../base/errors.ts';

/** Where a session is served, as the runtime's URL says. */
type StreamingTarget =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'tls'; readonly host: string; readonly port: number; readonly verify: boolean }
  | { readonly kind: 'unix'; readonly path: string };

/**
 * Runtimes name `http:` or `https:` addresses, or `http+unix:` with an escaped socket path for a host. A runtime on this
 * machine signs its own certificate for the loopback, so only there nothing is to be learned from verifying it.
 */
export function streamingTarget(to: URL): StreamingTarget {
  const host = to.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '') throw new TubeletError('invalid', 'the address of the session has no host');
  switch (to.protocol) {
    case 'http:':
      return { kind: 'tcp', host, port: Number(to.port || 80) };
    case 'https:':
      return { kind: 'tls', host, port: Number(to.port || 443), verify: !isLoopback(host) };
    case 'http+unix:':
      return { kind: 'unix', path: socketPath(host) };
    default:
      throw new TubeletError('invalid', `the address of the session is not HTTP but ${to.protocol}`);
  }
}

function socketPath(host: string): string {
  const path = host.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  if (!path.startsWith('/') || path.includes('\0')) {
    throw new TubeletError('invalid', 'the address of the session names no absolute socket path');
  }
  return path;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Begins to connect. Each direction may end by itself; nothing waits to be sent together with something else. */
export function connectTarget(target: StreamingTarget): Socket {
  if (target.kind === 'unix') return connect({ path: target.path, allowHalfOpen: true });
  const { host, port } = target;
  const plain = connect({ host, port, allowHalfOpen: true, noDelay: true });
  if (target.kind === 'tcp') return plain;
  return connectTls({
    socket: plain,
    rejectUnauthorized: target.verify,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : { host }),
  });
}
