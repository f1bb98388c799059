import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { Masked } from '../../base/masked.ts';
import type { CertificatePair } from './certificate-pair.ts';

/** The certificate that the node's server presents to its clients. PEM texts. */
export interface ServingCertificate {
  /** Differs when any other field does. */
  readonly version: string;
  readonly certificate: string;
  readonly key: Masked<string>;
}

export type ServingListener = (certificate: ServingCertificate) => void;

/** A source of serving certificates. Once started it has one, except while the first is still to be approved. */
export interface ServingCertificates extends Component {
  current(): ServingCertificate | undefined;
  /** Reports every change from now on; returns a function that ends this. */
  onChange(listener: ServingListener): () => void;
}

/** The newest certificate and its listeners. */
export class ServingSlot {
  readonly #log: Log;
  readonly #listeners = new Set<ServingListener>();
  #current: ServingCertificate | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  get current(): ServingCertificate | undefined {
    return this.#current;
  }

  put({ fingerprint, certificate, key }: CertificatePair): void {
    const next = { version: fingerprint, certificate, key };
    if (this.#current?.version === fingerprint && this.#current.certificate === certificate) return;
    this.#current = next;
    for (const listener of this.#listeners) {
      try {
        listener(next);
      } catch (error) {
        this.#log.error(error, 'Listener of the serving certificate failed');
      }
    }
  }

  listen(listener: ServingListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
