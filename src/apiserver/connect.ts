import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { accessFiles, type AccessFiles } from './credentials/access-files.ts';
import { FileTls } from './credentials/file-tls.ts';
import { headerCredentials } from './credentials/header-credentials.ts';
import type { PluginObserver } from './credentials/run-exec.ts';
import type { ApiServerAccess } from './kubeconfig/access.ts';
import type { ApiTransport, Credentials, TlsSource } from './ports.ts';

interface ConnectDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The agent's own: proxies, and what exec plugins inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly files?: AccessFiles;
  readonly plugin?: PluginObserver | undefined;
}

export interface ApiConnection {
  readonly transport: ApiTransport;
  readonly credentials: Credentials;
}

/**
 * Transport and credentials for one kubeconfig context. Nothing is sent yet. The HTTP modules are loaded here, so that
 * an agent without an API server does not pay for them.
 */
export async function connectApiServer(access: ApiServerAccess, deps: ConnectDeps): Promise<ApiConnection> {
  const { clock, log, environment, files = accessFiles } = deps;
  const { server, user, tlsServerName, insecureSkipTlsVerify, proxyUrl } = access;
  const { chooseProxy } = await import('./transport/proxy.ts');
  const proxy = chooseProxy(server, proxyUrl, environment);
  const fileTls = new FileTls({ access, files, clock, log });
  const { credentials, tls } = await openCredentials(access, deps, fileTls);
  if (server.protocol === 'http:') {
    const { Http1Transport } = await import('./transport/http1-transport.ts');
    if (Object.keys(user).length > 0)
      log.warn('Credentials go unencrypted to an http:// API server', { server: server.origin });
    return { transport: new Http1Transport(server, proxy), credentials };
  }
  if (insecureSkipTlsVerify) {
    log.warn(
      'The API server is not verified, because the kubeconfig has insecure-skip-tls-verify: another server on the way may answer',
      {
        server: server.origin,
      },
    );
  }
  const [{ Http2Transport }, { connectTls }] = await Promise.all([
    import('./transport/http2-transport.ts'),
    import('./transport/connect-tls.ts'),
  ]);
  const peer = { server, tlsServerName, insecureSkipTlsVerify, proxy };
  const connect: ConstructorParameters<typeof Http2Transport>[0]['connect'] = (material, signal) =>
    connectTls(peer, material, signal);
  return { transport: new Http2Transport({ server, tls, clock, log, connect }), credentials };
}

async function openCredentials(
  access: ApiServerAccess,
  { clock, log, environment, files = accessFiles, plugin: seen }: ConnectDeps,
  tls: TlsSource,
): Promise<{ readonly credentials: Credentials; readonly tls: TlsSource }> {
  const { user } = access;
  const { exec: plugin } = user;
  const hasHeader = user.token !== undefined || user.tokenFile !== undefined || user.basic !== undefined;
  // Credentials in the kubeconfig take precedence over a program's.
  if (plugin === undefined || hasHeader) return { credentials: headerCredentials(user, { files, clock, log }), tls };
  const [{ ExecCredentials }, { execRunner }] = await Promise.all([
    import('./credentials/exec-credentials.ts'),
    import('./credentials/run-exec.ts'),
  ]);
  const runner = execRunner({ clock, environment, seen });
  const exec = new ExecCredentials({ plugin, access, tls, clock, runner, seen });
  return { credentials: exec, tls: exec };
}
