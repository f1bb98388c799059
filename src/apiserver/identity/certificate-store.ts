import { join } from 'node:path';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { readPair, type CertificatePair } from './certificate-pair.ts';
import type { CertificateFiles } from './ports.ts';

interface CertificateStoreDeps {
  readonly files: CertificateFiles;
  readonly log: Log;
  /** --cert-dir. */
  readonly folder: string;
  readonly purpose: 'client' | 'server';
}

const folderMode = 0o755;
const pairMode = 0o600;

/**
 * Certificates with their keys, laid out as the Go kubelet does: `kubelet-client-2025-06-01-12-00-00.pem` for each one,
 * and the link `kubelet-client-current.pem` to the current one. The link moves only when the file is complete.
 */
export class CertificateStore {
  readonly currentPath: string;
  readonly #deps: CertificateStoreDeps;

  constructor(deps: CertificateStoreDeps) {
    this.#deps = deps;
    this.currentPath = join(deps.folder, `kubelet-${deps.purpose}-current.pem`);
  }

  /** The current pair, expired or not. A damaged one is put aside, so that the next one can replace it. */
  async read(): Promise<CertificatePair | undefined> {
    const { files, log } = this.#deps;
    const path = this.currentPath;
    let text: string;
    try {
      text = await files.readText(path);
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw error;
    }
    try {
      return readPair(text, text);
    } catch (error) {
      if (!isKind(error, 'invalid')) throw error;
      const aside = await files.putAside(path);
      log.warn('Certificate file is damaged; it is put aside and counts as missing', {
        path,
        aside,
        err: messageOf(error),
      });
      return undefined;
    }
  }

  async write({ certificate, key }: CertificatePair, wallMs: number): Promise<void> {
    const { files, folder, purpose } = this.#deps;
    await files.makeFolder(folder, folderMode);
    const path = join(folder, `kubelet-${purpose}-${fileTime(wallMs)}.pem`);
    await files.replace(path, `${certificate}${key.reveal()}`, pairMode);
    await files.link(path, this.currentPath);
  }
}

/** In the zone of the machine, as the Go kubelet names them: operators compare them with their logs. */
export function fileTime(wallMs: number): string {
  const date = new Date(wallMs);
  const parts = [
    date.getFullYear(),
    date.getMonth() + 1,
    date.getDate(),
    date.getHours(),
    date.getMinutes(),
    date.getSeconds(),
  ];
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
}
