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
import type { Asked } from './csr-outcome.ts';
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
  /** What the certificate shall say; nothing while that is not known. */
  readonly wanted: () => CsrShape | undefined;
  /** A way to ask by; `current` is what the node has, if that has not expired. */
  readonly connect: (current: CertificatePair | undefined) => Promise<CsrConnection>;
  readonly onChange: (next: CertificatePair, previous: CertificatePair | undefined) => void;
  /** An attempt that came to nothing. */
  readonly onFailure: () => void;
  /** Instead of 70 to 90 % of the lifetime. */
  readonly window?: RotationWindow | undefined;
  /** A private key on curve P-256. */
  readonly newKey?: (() => Promise<KeyObject>) | undefined;
}

/**
 * Keeps the certificate of a store fresh.
 *
 *   good ──late in its life, or it shall say something else──> asking ──issued, stored──> good
 *                                                               │  ^
 *                                                               └──┘ back-off; what was asked for is asked about again
 */
export class RotatingCertificate {
  readonly #deps: RotatingCertificateDeps;
  readonly #wakeup = new Wakeup();
  #life: LinkedSignal | undefined;
  #loop: LoopHandle | undefined;
  #current: CertificatePair | undefined;
  #rotateAt = 0;
  /** What was asked for and not stored yet. Kept through failures: asking twice would leave requests behind. */
  #asked: Asked | undefined;
  #failures = 0;

  constructor(deps: RotatingCertificateDeps) {
    this.#deps = deps;
  }

  async start(signal: AbortSignal): Promise<void> {
    const { name, clock, log, random, heartbeats } = this.#deps;
    await this.#look();
    this.#life = linkedSignal(signal);
    const body = (ending: AbortSignal, round: Round): Promise<void> => this.#round(ending, round);
    this.#loop = superviseLoop({ name, heartbeats, clock, log, random, signal: this.#life.signal, body });
  }

  async stop(): Promise<void> {
    this.#life?.abort(new TubeletError('cancelled', `the ${this.#deps.name} stops`));
    await this.#loop?.done;
  }

  /** The newest, expired or not. */
  current(): CertificatePair | undefined {
    return this.#current;
  }

  /** Look again: something else may be wanted. */
  wake(): void {
    this.#wakeup.wake();
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const { clock, random, log, name } = this.#deps;
    await this.#look();
    const shape = this.#deps.wanted();
    const current = this.#current;
    const step = decideRotation({
      now: clock.now(),
      current,
      rotateAt: this.#rotateAt,
      canAsk: shape !== undefined,
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
    if (this.#asked === undefined || !isSameShape(this.#asked.shape, shape))
      this.#asked = { key: await newKey(), shape };
    const asked = this.#asked;
    const isWanted = (): boolean => {
      const now = wanted();
      return now === undefined || isSameShape(now, shape);
    };
    const connection = await connect(current !== undefined && clock.now() < current.notAfter ? current : undefined);
    let pair: CertificatePair;
    try {
      const parts = { clock, random, log, api: connection.api };
      // Signers may be people.
      pair = await round.waitFor(requestCertificate(parts, asked, { signal, waitMs: usualWaitMs, isWanted }));
    } catch (error) {
      // Only a new key gets another answer.
      if (isKind(error, 'invalid')) this.#asked = undefined;
      throw error;
    } finally {
      await connection.close();
    }
    await store.write(pair, clock.now());
    this.#asked = undefined;
    // Counted from now: a signer that dates its certificates back must not make us ask again at once.
    this.#adopt(pair, Math.max(pair.notBefore, clock.now()));
  }

  /** The disk counts: somebody may have put another certificate there. */
  async #look(): Promise<void> {
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
      // Its end is the usual case; only the end of the component matters.
      if (signal.aborted) throw error;
    } finally {
      linked.release();
    }
  }
}
