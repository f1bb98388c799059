import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { UserAccess } from '../kubeconfig/access.ts';
import type { Credentials } from '../ports.ts';
import type { AccessFiles } from './access-files.ts';

interface HeaderCredentialsDeps {
  readonly files: AccessFiles;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

const tokenFileCacheMs = 60_000;

/** Credentials of a user without an exec plugin. With a client certificate only, no header is sent. */
export function headerCredentials(user: UserAccess, deps: HeaderCredentialsDeps): Credentials {
  const { token, tokenFile, basic } = user;
  if (tokenFile !== undefined) return new TokenFileCredentials(tokenFile, deps, user);
  if (token !== undefined) return { authorization: async () => `Bearer ${token.reveal()}` };
  if (basic !== undefined) {
    const { username, password } = basic.reveal();
    const value = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return { authorization: async () => value };
  }
  return { authorization: async () => undefined };
}

/** A token in a file that is replaced from time to time. If it cannot be read, the last token stays in use. */
class TokenFileCredentials implements Credentials {
  readonly #path: string;
  readonly #deps: HeaderCredentialsDeps;
  #value: string | undefined;
  #readAt: number | undefined;

  constructor(path: string, deps: HeaderCredentialsDeps, { token }: UserAccess) {
    this.#path = path;
    this.#deps = deps;
    this.#value = token === undefined ? undefined : `Bearer ${token.reveal()}`;
  }

  async authorization(): Promise<string | undefined> {
    const { files, clock, log } = this.#deps;
    if (this.#readAt !== undefined && clock.monotonic() - this.#readAt < tokenFileCacheMs) return this.#value;
    try {
      const token = (await files.readText(this.#path)).trim();
      if (token === '') log.warn('Token file is empty; the token before it stays in use', { path: this.#path });
      else this.#value = `Bearer ${token}`;
    } catch (error) {
      log.error(error, 'Token file cannot be read; the token before it stays in use', { path: this.#path });
    }
    // An unreadable file is not read again for every request either.
    this.#readAt = clock.monotonic();
    return this.#value;
  }

  renew(): void {
    this.#readAt = undefined;
  }
}
