import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { CertificateStore } from './certificate-store.ts';
import { clientShape } from './csr-shape.ts';
import type { CsrApi, CsrConnection } from './ports.ts';
import { RotatingCertificate } from './rotating-certificate.ts';
import type { RotationWindow } from './rotation-plan.ts';
import { secondsLeft } from './seconds-left.ts';

interface ClientCertificateManagerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: CertificateStore;
  readonly nodeName: string;
  /** With the node's own credentials. */
  readonly api: CsrApi;
  /** With those of --bootstrap-kubeconfig, for when the node's own have expired. */
  readonly bootstrap?: (() => Promise<CsrConnection>) | undefined;
  /** Called for a new certificate: connections made with the old one should be replaced. */
  readonly onRotated: () => void;
  /** Instead of 70 to 90 % of the lifetime. */
  readonly window?: RotationWindow | undefined;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
}

/** Renews the client certificate of the node while the agent runs. */
export class ClientCertificateManager implements Component {
  readonly name = 'client-certificate';
  readonly #deps: ClientCertificateManagerDeps;
  readonly #rotating: RotatingCertificate;

  constructor(deps: ClientCertificateManagerDeps) {
    this.#deps = deps;
    const { clock, random, log, heartbeats, metrics, store, nodeName, window, newKey } = deps;
    const errors = metrics.counter({
      name: 'kubelet_certificate_manager_client_expiration_renew_errors',
      help: 'Attempts to renew the client certificate that failed.',
      stability: 'ALPHA',
    });
    const shape = clientShape(nodeName);
    this.#rotating = new RotatingCertificate({
      name: this.name,
      clock,
      random,
      log,
      heartbeats,
      store,
      window,
      newKey,
      wanted: () => shape,
      connect: (current) => this.#connect(current),
      onChange: (_, previous) => {
        if (previous !== undefined) deps.onRotated();
      },
      onFailure: () => errors.inc(),
    });
    metrics.observed(
      {
        name: 'kubelet_certificate_manager_client_ttl_seconds',
        help: 'Seconds until the client certificate expires, negative when it has; +Inf without one.',
        stability: 'ALPHA',
        type: 'gauge',
      },
      () => [{ labels: {}, value: secondsLeft(this.#rotating.current(), clock.now()) }],
    );
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#rotating.start(signal);
  }

  stop(): Promise<void> {
    return this.#rotating.stop();
  }

  /** The newest certificate, expired or not. */
  current(): CertificatePair | undefined {
    return this.#rotating.current();
  }

  async #connect(current: CertificatePair | undefined): Promise<CsrConnection> {
    const { api, bootstrap, log } = this.#deps;
    if (current !== undefined) return { api, close: async () => {} };
    if (bootstrap === undefined) {
      const advice = 'put a valid one there, or start the agent with --bootstrap-kubeconfig';
      throw new TubeletError(
        'denied',
        `the client certificate in ${this.#deps.store.currentPath} is missing or has expired; ${advice}`,
      );
    }
    log.warn('The client certificate is missing or has expired; asking with the bootstrap credentials');
    return bootstrap();
  }
}
