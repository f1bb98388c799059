import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { ApiServerAccess, ExecPlugin } from '../kubeconfig/access.ts';
import type { Credentials, TlsMaterial, TlsSource } from '../ports.ts';
import { decodeExecCredential, execInfo, type ExecCredential } from './exec-protocol.ts';
import { assertPair, tlsMaterial } from './file-tls.ts';
import type { ExecRunner, PluginObserver } from './run-exec.ts';

interface ExecCredentialsDeps {
  readonly plugin: ExecPlugin;
  readonly access: ApiServerAccess;
  /** Authority and, where the kubeconfig has one, client certificate. */
  readonly tls: TlsSource;
  readonly runner: ExecRunner;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly seen?: Pick<PluginObserver, 'certificate'> | undefined;
}

/**
 * Many requests may be refused at once for one reason; later refusals must not discard credentials that were just
 * renewed.
 */
const freshMs = 1_000;

/**
 * Credentials from a program: cached until they expire or the server refuses them; one run of the program at a time.
 */
export class ExecCredentials implements Credentials, TlsSource {
  readonly #deps: ExecCredentialsDeps;
  readonly #flights = new SingleFlight<'ask', ExecCredential>();
  #kept: { readonly credential: ExecCredential; readonly at: number } | undefined;

  constructor(deps: ExecCredentialsDeps) {
    this.#deps = deps;
  }

  async authorization(): Promise<string | undefined> {
    const { token } = await this.#credential();
    return token === undefined ? undefined : `Bearer ${token.reveal()}`;
  }

  async current(): Promise<TlsMaterial> {
    const [below, { pair }] = await Promise.all([this.#deps.tls.current(), this.#credential()]);
    if (pair === undefined) return below;
    const { certificate, key } = pair.reveal();
    return tlsMaterial(below.ca, certificate, key);
  }

  renew(): void {
    if (this.#kept !== undefined && this.#deps.clock.monotonic() - this.#kept.at >= freshMs) this.#kept = undefined;
  }

  async #credential(): Promise<ExecCredential> {
    const kept = this.#kept?.credential;
    if (kept !== undefined && (kept.expiresAt === undefined || this.#deps.clock.now() < kept.expiresAt)) return kept;
    return this.#flights.run('ask', () => this.#ask());
  }

  async #ask(): Promise<ExecCredential> {
    const { plugin, access, tls, runner, clock } = this.#deps;
    const { ca } = await tls.current();
    const credential = decodeExecCredential(plugin.apiVersion, await runner.run(plugin, execInfo(plugin, access, ca)));
    const pair = credential.pair?.reveal();
    if (pair !== undefined) {
      assertPair(pair.certificate, pair.key);
      const { validFrom, validTo } = new X509Certificate(pair.certificate);
      this.#deps.seen?.certificate({ notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) });
    }
    this.#kept = { credential, at: clock.monotonic() };
    return credential;
  }
}
