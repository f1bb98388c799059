import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Masked } from '../../base/masked.ts';
import type { ApiServerAccess, KeySource, PemSource } from '../kubeconfig/access.ts';
import type { TlsMaterial, TlsSource } from '../ports.ts';
import type { AccessFiles } from './access-files.ts';

interface FileTlsDeps {
  readonly access: Pick<ApiServerAccess, 'certificateAuthority' | 'user'>;
  readonly files: AccessFiles;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** How long files are not checked again: a rotated certificate is in use at most a second later. */
const checkEveryMs = 1_000;

/**
 * Authority, certificate and key of a kubeconfig, read again when their files have changed. A pair that does not fit,
 * as between two writes of a rotation, leaves the one before it in use.
 */
export class FileTls implements TlsSource {
  readonly #deps: FileTlsDeps;
  #current: TlsMaterial | undefined;
  #stamp = '';
  #checkedAt: number | undefined;
  #checking: Promise<TlsMaterial> | undefined;

  constructor(deps: FileTlsDeps) {
    this.#deps = deps;
  }

  async current(): Promise<TlsMaterial> {
    const now = this.#deps.clock.monotonic();
    if (this.#current !== undefined && this.#checkedAt !== undefined && now - this.#checkedAt < checkEveryMs) {
      return this.#current;
    }
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<TlsMaterial> {
    const { files, clock, log, access } = this.#deps;
    this.#checkedAt = clock.monotonic();
    try {
      const { certificateAuthority, user } = access;
      const sources = [certificateAuthority, user.clientCertificate, user.clientKey];
      const paths = sources.flatMap((source) => (source !== undefined && 'file' in source ? source.file : []));
      const stamps = await Promise.all(paths.map((path) => files.stampOf(path)));
      if (this.#current !== undefined && stamps.join() === this.#stamp) return this.#current;
      const read = await this.#read();
      this.#stamp = stamps.join();
      if (this.#current !== undefined && this.#current.version !== read.version) {
        log.info('Credentials for the API server have changed; new connections use them');
      }
      // The same object as long as its contents are the same.
      if (this.#current?.version !== read.version) this.#current = read;
      return this.#current;
    } catch (error) {
      if (this.#current === undefined) {
        throw new TubeletError('unavailable', `credentials cannot be read: ${messageOf(error)}`, { cause: error });
      }
      log.error(error, 'Changed credentials for the API server cannot be used; those before them stay in use');
      return this.#current;
    }
  }

  async #read(): Promise<TlsMaterial> {
    const { certificateAuthority, user } = this.#deps.access;
    const [ca, certificate, key] = await Promise.all([
      this.#text(certificateAuthority),
      this.#text(user.clientCertificate),
      this.#text(user.clientKey),
    ]);
    if (certificate !== undefined && key !== undefined) assertPair(certificate, key);
    return tlsMaterial(ca, certificate, key);
  }

  async #text(source: PemSource | KeySource | undefined): Promise<string | undefined> {
    if (source === undefined) return undefined;
    if ('file' in source) return this.#deps.files.readText(source.file);
    return typeof source.data === 'string' ? source.data : source.data.reveal();
  }
}

export function tlsMaterial(ca?: string, certificate?: string, key?: string): TlsMaterial {
  const hash = createHash('sha256');
  for (const part of [ca, certificate, key]) hash.update(`${part === undefined ? '-' : part.length}\n${part ?? ''}`);
  return {
    version: hash.digest('hex').slice(0, 32),
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key: new Masked(key) }),
  };
}

/** Throws what is wrong with a certificate and key, without their contents. */
export function assertPair(certificate: string, key: string): void {
  let fits: boolean;
  try {
    fits = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new TubeletError('invalid', 'the client certificate or key is not in PEM form', { cause: error });
  }
  if (!fits) throw new TubeletError('invalid', 'the client certificate and key do not belong together');
}
