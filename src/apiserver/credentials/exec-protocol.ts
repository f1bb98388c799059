import { TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import type { ApiServerAccess, ExecPlugin } from '../kubeconfig/access.ts';

/** The answer of a plugin; none of it may be logged. */
export interface ExecCredential {
  /** Wall time in milliseconds; without it, until the server refuses. */
  readonly expiresAt?: number;
  readonly token?: Masked<string>;
  readonly pair?: Masked<{ readonly certificate: string; readonly key: string }>;
}

/** The value of KUBERNETES_EXEC_INFO. `ca` is the text of the authority, inline or from a file. */
export function execInfo(plugin: ExecPlugin, access: ApiServerAccess, ca: string | undefined): string {
  const { server, tlsServerName, insecureSkipTlsVerify, proxyUrl, disableCompression, execConfig } = access;
  const cluster = {
    server: server.href.replace(/\/$/, ''),
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
    ...(disableCompression && { 'disable-compression': true }),
    ...(execConfig !== undefined && { config: execConfig }),
  };
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: plugin.apiVersion,
    spec: { ...(plugin.provideClusterInfo && { cluster }), interactive: false },
  });
}

/** Decodes an answer. An error names the wrong field and nothing of its value. */
export function decodeExecCredential(apiVersion: string, text: string): ExecCredential {
  const answer = mapping(parse(text), 'it');
  if (answer['kind'] !== 'ExecCredential') throw wrong('its kind is not ExecCredential');
  if (answer['apiVersion'] !== apiVersion) throw wrong(`its apiVersion is not ${apiVersion}, as the kubeconfig has it`);
  const status = mapping(answer['status'], 'its status');
  const token = textOf(status, 'token');
  const certificate = textOf(status, 'clientCertificateData');
  const key = textOf(status, 'clientKeyData');
  if ((certificate === undefined) !== (key === undefined)) {
    throw wrong('clientCertificateData and clientKeyData go together');
  }
  if (token === undefined && certificate === undefined) throw wrong('it has neither a token nor a certificate');
  const expires = textOf(status, 'expirationTimestamp');
  const expiresAt = expires === undefined ? undefined : Date.parse(expires);
  if (Number.isNaN(expiresAt)) throw wrong('its expirationTimestamp is not an RFC 3339 time');
  return {
    ...(expiresAt !== undefined && { expiresAt }),
    ...(token !== undefined && { token: new Masked(token) }),
    ...(certificate !== undefined && key !== undefined && { pair: new Masked({ certificate, key }) }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('it is not valid JSON');
  }
}

function mapping(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${what} is not a JSON object`);
  return value as Readonly<Record<string, unknown>>;
}

function textOf(status: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = status[name] ?? '';
  if (typeof value !== 'string') throw wrong(`its ${name} is not text`);
  return value === '' ? undefined : value;
}

function wrong(what: string): TubeletError {
  return new TubeletError('invalid', `the credential plugin's answer cannot be used: ${what}`);
}
