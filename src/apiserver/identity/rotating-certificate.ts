import type { KeyObject } from 'node:crypto';
import { linkedSignal, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isKind, TubeletError } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { Wakeup } from '../../base/wakeup.ts';
import { createKey } from '../x509/keys.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { CertificateStore } from './certificate-store.ts';
import type { RequestedCertificate } from './csr-outcome.ts';
import { isSameShape, satisfies, type CsrShape } from './csr-shape.ts';
import type { CsrConnection } from './ports.ts';
import { requestCertificate, usualWaitMs } from './request-certificate.ts';
import { decideRotation, retryDelayMs, rotationDeadline, usualWindow, type RotationWindow } from './rotation-plan.ts';

interface RotatingCertificateDeps {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly store: CertificateStore;
  /** What the certificate must contain; undefined while that is not known. */
  readonly wanted: () => CsrShape | undefined;
  /** Connects to the API server; `current` is the node's certificate, if it has not expired. */
  readonly connect: (current: CertificatePair | undefined) => Promise<CsrConnection>;
  readonly onChange: (next: CertificatePair, previous: CertificatePair | undefined) => void;
  /** Called after a failed attempt. */
  readonly onFailure: () => void;
  /** Instead of 70 to 90 % of the lifetime. */
  readonly window?: RotationWindow | undefined;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
}

/**
 * Keeps the certificate of a store fresh.
 *
 *   good ──late in its life, or its contents must change──> asking ──issued, stored──> good
 *                                                               │  ^
 *                                                               └──┘ back-off; the same request is continued
 */
export class RotatingCertificate {
  readonly #deps: RotatingCertificateDeps;
  readonly #wakeup = new Wakeup();
  #life: LinkedSignal | undefined;
  #loop: LoopHandle | undefined;
  #current: CertificatePair | undefined;
  #rotateAt = 0;
  /**
   * The request whose certificate is not stored yet. Kept through failures: a second one would leave the first behind.
   */
  #requested: RequestedCertificate | undefined;
  #failures = 0;

  constructor(deps: RotatingCertificateDeps) {
    this.#deps = deps;
  }

  async start(signal: AbortSignal): Promise<void> {
    const { name, clock, log, random, heartbeats } = this.#deps;
    await this.#readStore();
    this.#life = linkedSignal(signal);
    const body = (ending: AbortSignal, round: Round): Promise<void> => this.#round(ending, round);
    this.#loop = superviseLoop({ name, heartbeats, clock, log, random, signal: this.#life.signal, body });
  }

  async stop(): Promise<void> {
    this.#life?.abort(new TubeletError('cancelled', `the ${this.#deps.name} stops`));
    await this.#loop?.done;
  }

  /** The newest certificate, expired or not. */
  current(): CertificatePair | undefined {
    return this.#current;
  }

  /** Starts a round: the wanted contents may have changed. */
  wake(): void {
    this.#wakeup.wake();
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const { clock, random, log, name } = this.#deps;
    await this.#readStore();
    const shape = this.#deps.wanted();
    const current = this.#current;
    const step = decideRotation({
      now: clock.now(),
      current,
      rotateAt: this.#rotateAt,
      canRequest: shape !== undefined,
      isFitting: shape === undefined || current === undefined || satisfies(current, shape),
    });
    if (step.act === 'wait' || shape === undefined) {
      this.#failures = 0;
      return round.waitFor(this.#pause(step.act === 'wait' ? step.forMs : 0, signal));
    }
    try {
      log.info('Asking for a new certificate', { certificate: name, reason: step.why });
      await this.#renew(shape, signal, round);
      this.#failures = 0;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isKind(error, 'conflict')) {
        log.info('Another certificate is wanted by now', { certificate: name });
        return;
      }
      this.#failures++;
      this.#deps.onFailure();
      const delayMs = retryDelayMs(this.#failures, random);
      log.error(error, 'No new certificate yet', { certificate: name, retryInMs: Math.round(delayMs) });
      await round.waitFor(this.#pause(delayMs, signal));
    }
  }

  async #renew(shape: CsrShape, signal: AbortSignal, round: Round): Promise<void> {
    const { clock, random, log, store, connect, wanted, newKey = createKey } = this.#deps;
    const current = this.#current;
    if (this.#requested === undefined || !isSameShape(this.#requested.shape, shape))
      this.#requested = { key: await newKey(), shape };
    const asked = this.#requested;
    const isWanted = (): boolean => {
      const now = wanted();
      return now === undefined || isSameShape(now, shape);
    };
    const connection = await connect(current !== undefined && clock.now() < current.notAfter ? current : undefined);
    let pair: CertificatePair;
    try {
      const parts = { clock, random, log, api: connection.api };
      // Approval by people may take long.
      pair = await round.waitFor(requestCertificate(parts, asked, { signal, waitMs: usualWaitMs, isWanted }));
    } catch (error) {
      // Only a new key gets another answer.
      if (isKind(error, 'invalid')) this.#requested = undefined;
      throw error;
    } finally {
      await connection.close();
    }
    await store.write(pair, clock.now());
    this.#requested = undefined;
    // Counted from now: a signer that backdates its certificates must not cause a new request at once.
    this.#adopt(pair, Math.max(pair.notBefore, clock.now()));
  }

  /** Reads the store, because another program may have put another certificate there. */
  async #readStore(): Promise<void> {
    const stored = await this.#deps.store.read();
    if (stored !== undefined && stored.fingerprint !== this.#current?.fingerprint)
      this.#adopt(stored, stored.notBefore);
  }

  #adopt(pair: CertificatePair, bornAt: number): void {
    const { random, log, name, window = usualWindow, onChange } = this.#deps;
    const previous = this.#current;
    this.#current = pair;
    this.#rotateAt = rotationDeadline({ notBefore: bornAt, notAfter: pair.notAfter }, random, window);
    log.info('Certificate is in use', {
      certificate: name,
      expires: new Date(pair.notAfter).toISOString(),
      rotateAt: new Date(this.#rotateAt).toISOString(),
    });
    onChange(pair, previous);
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const linked = linkedSignal(signal, { clock: this.#deps.clock, ms });
    try {
      await this.#wakeup.wait(linked.signal);
    } catch (error) {
      // The end of a wait is normal; only the end of the component matters.
      if (signal.aborted) throw error;
    } finally {
      linked.release();
    }
  }
}
