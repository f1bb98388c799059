import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { NodeAddress } from '../../gen/kubernetes/types.ts';
import type { CertificateStore } from './certificate-store.ts';
import { servingShape } from './csr-shape.ts';
import type { CsrApi } from './ports.ts';
import { RotatingCertificate } from './rotating-certificate.ts';
import type { RotationWindow } from './rotation-plan.ts';
import { secondsLeft } from './seconds-left.ts';
import {
  ServingSlot,
  type ServingCertificate,
  type ServingCertificates,
  type ServingListener,
} from './serving-certificate.ts';

interface IssuedServingCertificateDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: CertificateStore;
  readonly nodeName: string;
  readonly api: CsrApi;
  /** Those of the Node object; read again in each round. */
  readonly addresses: () => readonly NodeAddress[];
  /** Instead of 70 to 90 % of the lifetime. */
  readonly window?: RotationWindow | undefined;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
}

const minute = 60;
const day = 86_400;

/** A serving certificate that the cluster signs for the node's addresses: serverTLSBootstrap. */
export class IssuedServingCertificate implements ServingCertificates {
  readonly name = 'serving-certificate';
  readonly #rotating: RotatingCertificate;
  readonly #slot: ServingSlot;

  constructor(deps: IssuedServingCertificateDeps) {
    const { clock, random, log, heartbeats, metrics, store, nodeName, api, addresses, window, newKey } = deps;
    this.#slot = new ServingSlot(log);
    const errors = metrics.counter({
      name: 'kubelet_server_expiration_renew_errors',
      help: 'Attempts to renew the serving certificate that failed.',
      stability: 'ALPHA',
    });
    const lived = metrics.histogram({
      name: 'kubelet_certificate_manager_server_rotation_seconds',
      help: 'How many seconds a serving certificate was in use before the next one took its place.',
      stability: 'ALPHA',
      buckets: [minute, 60 * minute, 240 * minute, day, 7 * day, 30 * day, 90 * day, 180 * day, 360 * day, 1_440 * day],
    });
    this.#rotating = new RotatingCertificate({
      name: this.name,
      clock,
      random,
      log,
      heartbeats,
      store,
      window,
      newKey,
      wanted: () => servingShape(nodeName, addresses()),
      connect: async () => ({ api, close: async () => {} }),
      onChange: (pair, previous) => {
        if (previous !== undefined) lived.observe((clock.now() - previous.notBefore) / 1_000);
        this.#slot.put(pair);
      },
      onFailure: () => errors.inc(),
    });
    metrics.observed(
      {
        name: 'kubelet_certificate_manager_server_ttl_seconds',
        help: 'Seconds until the serving certificate expires, negative when it has; +Inf without one.',
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

  current(): ServingCertificate | undefined {
    return this.#slot.current;
  }

  onChange(listener: ServingListener): () => void {
    return this.#slot.listen(listener);
  }

  /** The addresses of the node may have changed. */
  addressesChanged(): void {
    this.#rotating.wake();
  }
}
