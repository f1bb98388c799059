import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { TubeletError } from '../../base/errors.ts';
import type { TlsMaterial } from '../ports.ts';
import { abortError } from './network-error.ts';
import { openTunnel } from './proxy.ts';

export interface TlsPeer {
  readonly server: URL;
  /** The name that the certificate must have, if it is not the one in the URL. */
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly proxy?: URL | undefined;
}

/** Opens a TLS connection that negotiated HTTP/2. */
export async function connectTls(peer: TlsPeer, material: TlsMaterial, signal: AbortSignal): Promise<Duplex> {
  const { server, proxy } = peer;
  const host = server.hostname.replaceAll(/^\[|\]$/g, '');
  const port = Number(server.port === '' ? 443 : server.port);
  const tunnel = proxy === undefined ? undefined : await openTunnel(proxy, host, port, signal);
  // An address must not be sent as a server name; the certificate is then verified against the address itself.
  const servername = peer.tlsServerName ?? (isIP(host) === 0 ? host : undefined);
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({
      ...(tunnel === undefined ? { host, port } : { socket: tunnel, host }),
      ...(servername !== undefined && { servername }),
      ...(material.ca !== undefined && { ca: material.ca }),
      ...(material.certificate !== undefined && { cert: material.certificate }),
      ...(material.key !== undefined && { key: material.key.reveal() }),
      rejectUnauthorized: peer.insecureSkipTlsVerify !== true,
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.2',
    });
    const onAbort = (): void => {
      socket.destroy();
      reject(abortError(signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = (): void => signal.removeEventListener('abort', onAbort);
    socket.once('error', (error) => {
      settle();
      reject(error);
    });
    socket.once('close', () => reject(new Error('the server closed the connection during the TLS handshake')));
    socket.once('secureConnect', () => {
      settle();
      socket.removeAllListeners('close').removeAllListeners('error');
      if (socket.alpnProtocol === 'h2') {
        socket.setNoDelay(true);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(new TubeletError('unavailable', `${server.origin} does not speak HTTP/2`));
    });
  });
}
