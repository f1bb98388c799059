/** Failures of the network as Go prints them, because users of probes and hooks search for those texts. */

const errnoTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EACCES: 'permission denied',
  EINVAL: 'invalid argument',
  EMFILE: 'too many open files',
};

const lookupCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME', 'EAI_FAIL', 'EAI_NODATA']);

/** `host:port`, with brackets around an IPv6 address. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The code of a system error; of several, tried one after the other, that of the first. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function errnoText(code: string | undefined): string | undefined {
  return code === undefined ? undefined : errnoTexts[code];
}

/** Why a connection could not be made. */
export function dialFailure(host: string, port: number, error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined && lookupCodes.has(code)) return `dial tcp: lookup ${host}: no such host`;
  const text = errnoText(code);
  const said = error instanceof Error ? error.message : String(error);
  return `dial tcp ${hostAndPort(host, port)}: ${text === undefined ? said : `connect: ${text}`}`;
}

export function dialTimeout(host: string, port: number): string {
  return `dial tcp ${hostAndPort(host, port)}: i/o timeout`;
}
