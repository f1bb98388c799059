import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { linkedSignal, type LinkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { describeError, TubeletError } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Histogram, Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Caller } from '../../model/caller.ts';
import { parseCaBundle, type CaBundle } from './ca-bundle.ts';
import type { CertificateSubject } from './certificate-facts.ts';
import { chainOf } from './peer-chain.ts';
import type { Authenticator, AuthorityFiles, CertificateJudge, Credentials } from './ports.ts';
import { withTlsVerdict } from './tls-verdict.ts';
import { verifyChain, type ChainVerdict } from './verify-chain.ts';

interface ClientCertificatesDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly metrics: Metrics;
  readonly files: AuthorityFiles;
  /** Absolute. */
  readonly clientCAFile: string;
  /** The gate AllowParsingUserUIDFromCertAuth. */
  readonly userIds: boolean;
}

/** What was found out about the certificates of a connection. */
interface Judgement {
  readonly verdict: ChainVerdict;
  readonly caller: Caller | undefined;
  /** The authorities at that time. */
  readonly bundle: CaBundle | undefined;
  /** Monotonic time. */
  readonly until: number;
}

/** So long one counts, if no certificate expires before and the authorities stay the same. */
const judgementMs = 10_000;
const checkEveryMs = 60_000;
/** A file is often written in several steps; only the last of them is worth reading. */
const settleMs = 250;
const credentialId = 'authentication.kubernetes.io/credential-id';
const hour = 3_600;
const day = 24 * hour;

/**
 * Who a client is by its certificate: the common name is the user, the organizations are the groups. The authorities
 * stand in a file that is read again when it changes; as long as a new one cannot be used, the one before it counts.
 */
export class ClientCertificates implements Authenticator, CertificateJudge, Component {
  readonly name = 'client-certificate-authorities';
  readonly #deps: ClientCertificatesDeps;
  readonly #listeners = new Set<(pem: string) => void>();
  readonly #secondsLeft: Histogram;
  /** By the list of certificates, which is one object for as long as a connection lives. */
  readonly #judgements = new WeakMap<readonly Buffer[], Judgement>();
  #bundle: CaBundle | undefined;
  #stamp = '';
  /** What was wrong at the last reading, so that it is logged once. */
  #problem = '';
  #life: LinkedSignal | undefined;
  #loop: LoopHandle | undefined;
  #unwatch: (() => void) | undefined;
  #hinted = false;
  #nap: LinkedSignal | undefined;

  constructor(deps: ClientCertificatesDeps) {
    this.#deps = deps;
    this.#secondsLeft = deps.metrics.histogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'How long the certificates that clients came with were still valid.',
      stability: 'ALPHA',
      buckets: [
        0,
        hour / 2,
        hour,
        2 * hour,
        6 * hour,
        12 * hour,
        ...[1, 2, 4, 7, 30, 90, 180, 360].map((n) => n * day),
      ],
    });
  }

  /** Fails when there are no authorities to begin with. */
  async start(signal: AbortSignal): Promise<void> {
    const { clock, random, log, clientCAFile, heartbeats } = this.#deps;
    try {
      await this.#reloadIfChanged();
    } catch (error) {
      const why = `the certificate authorities for clients in ${clientCAFile} cannot be used: ${describeError(error)}`;
      const advice = 'set authentication.x509.clientCAFile to a PEM file of certificates, or to nothing';
      throw new TubeletError('invalid', `${why}; ${advice}`, { cause: error });
    }
    this.#life = linkedSignal(signal);
    const body = (ending: AbortSignal, round: Round): Promise<void> => this.#round(ending, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, log, random, signal: this.#life.signal, body });
  }

  async stop(): Promise<void> {
    this.#life?.abort(new TubeletError('cancelled', `the ${this.name} stop`));
    await this.#loop?.done;
    this.#endWatch();
  }

  /** The same before there is a request. */
  callerOf(shown: Parameters<CertificateJudge['callerOf']>[0]): Caller | undefined {
    const chain = chainOf(shown);
    if (chain.length === 0) return undefined;
    return this.#judgementOf(chain, shown.tlsVerdict, this.#deps.clock.now()).caller;
  }

  /** The authorities for a TLS context, so that clients can choose a certificate of theirs. */
  pem(): string {
    return this.#bundle?.pem ?? '';
  }

  /** Calls the listener at every change from now on; the returned function ends that. */
  onChange(listener: (pem: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async authenticate(credentials: Credentials): Promise<Caller | undefined> {
    const chain = chainOf(credentials);
    if (chain.length === 0) return undefined;
    const now = this.#deps.clock.now();
    const { verdict, caller } = this.#judgementOf(chain, credentials.tlsVerdict, now);
    if (!verdict.trusted) this.#deps.log.debug(2, 'Certificate of a client is refused', { reason: verdict.reason });
    else if (caller !== undefined) this.#secondsLeft.observe((verdict.notAfterMs - now) / 1_000);
    return caller;
  }

  /** Remembered, because signatures are expensive to check and a connection has many requests. */
  #judgementOf(chain: readonly Buffer[], tlsVerdict: string | undefined, now: number): Judgement {
    const monotonic = this.#deps.clock.monotonic();
    const known = this.#judgements.get(chain);
    const isFresh = known !== undefined && known.bundle === this.#bundle && monotonic < known.until;
    if (isFresh && !(known.verdict.trusted && known.verdict.untilMs < now)) return known;
    const verdict = withTlsVerdict(verifyChain(chain, this.#bundle?.anchors ?? [], now), tlsVerdict);
    const caller = verdict.trusted ? this.#callerOf(verdict.subject, chain) : undefined;
    const judgement = { verdict, caller, bundle: this.#bundle, until: monotonic + judgementMs };
    this.#judgements.set(chain, judgement);
    return judgement;
  }

  #callerOf({ commonName, organizations, uid }: CertificateSubject, [leaf]: readonly Buffer[]): Caller | undefined {
    if (commonName === '' || leaf === undefined) return undefined;
    return {
      name: commonName,
      groups: organizations,
      ...(this.#deps.userIds && uid !== undefined && { uid }),
      extra: { [credentialId]: [`X509SHA256=${createHash('sha256').update(leaf).digest('hex')}`] },
    };
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    this.#watch();
    await round.waitFor(this.#waitForHint(signal));
    try {
      const isNew = await this.#reloadIfChanged();
      if (isNew) this.#deps.log.info('Certificate authorities for clients were replaced', this.#fields());
      else if (this.#problem !== '')
        this.#deps.log.info('Certificate authorities for clients are whole again', this.#fields());
      this.#problem = '';
    } catch (error) {
      const problem = describeError(error);
      if (problem !== this.#problem)
        this.#deps.log.error(
          error,
          'Certificate authorities for clients cannot be used; those before stay',
          this.#fields(),
        );
      this.#problem = problem;
    }
  }

  /** True when the file has a new bundle. */
  async #reloadIfChanged(): Promise<boolean> {
    const { files, clientCAFile, log } = this.#deps;
    const stamp = await files.stampOf(clientCAFile);
    if (stamp === this.#stamp && this.#problem === '') return false;
    const next = parseCaBundle(await files.readText(clientCAFile));
    this.#stamp = stamp;
    if (next.pem === this.#bundle?.pem) return false;
    this.#bundle = next;
    for (const listener of this.#listeners) {
      try {
        listener(next.pem);
      } catch (error) {
        log.error(error, 'Listener of the certificate authorities for clients failed');
      }
    }
    return true;
  }

  /** Resolves when the system reports a change, or after a minute. */
  async #waitForHint(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    if (!this.#hinted) {
      const nap = linkedSignal(signal);
      this.#nap = nap;
      // Only the signal or a hint ends it early, and both are checked next.
      await clock.sleep(checkEveryMs, nap.signal).catch(() => {});
      nap.release();
      signal.throwIfAborted();
    }
    if (this.#hinted) await clock.sleep(settleMs, signal);
    this.#hinted = false;
  }

  /** Other files in the folder are ignored, except names with two dots: by those the kubelet switches volumes. */
  #changed(name: string | undefined): void {
    if (name !== undefined && name !== basename(this.#deps.clientCAFile) && !name.startsWith('..')) return;
    this.#hinted = true;
    this.#nap?.abort();
  }

  /** Begun anew in the next round when it breaks; without it the check every minute is enough. */
  #watch(): void {
    const { files, clientCAFile, log } = this.#deps;
    if (this.#unwatch !== undefined || files.watch === undefined) return;
    const folder = dirname(clientCAFile);
    const lost = (error: unknown): void => {
      this.#endWatch();
      log.debug(4, 'Folder of the certificate authorities for clients is not watched', {
        folder,
        err: String(error),
      });
    };
    try {
      this.#unwatch = files.watch(folder, (name) => this.#changed(name), lost);
    } catch (error) {
      lost(error);
    }
  }

  #endWatch(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  #fields(): { readonly path: string } {
    return { path: this.#deps.clientCAFile };
  }
}
