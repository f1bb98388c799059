import type { ServerLimits } from './limits.ts';

type HeaderLimits = Pick<ServerLimits, 'headerBytes' | 'authenticatedHeaderBytes' | 'headerCount'>;

/**
 * Whether a request has more headers than it may. `rawHeaders` are names and values in turn. Node leaves out what is
 * beyond its count, so that the request may mean something else by then; and over HTTP/2 a limit in bytes holds only once
 * the client has said that it heard of it, which it may never do.
 */
export function hasTooManyHeaders(
  rawHeaders: readonly string[],
  isAuthenticated: boolean,
  limits: HeaderLimits,
): boolean {
  if (rawHeaders.length >= 2 * limits.headerCount) return true;
  const bytes = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  return bytes > (isAuthenticated ? limits.authenticatedHeaderBytes : limits.headerBytes);
}
