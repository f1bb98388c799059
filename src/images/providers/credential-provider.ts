import { createHash } from 'node:crypto';
import { join } from 'node:path/posix';
import { raceAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Masked } from '../../base/masked.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { nodeSource, type CredentialSource } from '../credentials/credential.ts';
import type { RegistryEntry } from '../credentials/docker-config.ts';
import type { KeyringPart } from '../credentials/keyring.ts';
import { matchesImage } from '../credentials/registry-match.ts';
import type { ImageMetrics } from '../image-metrics.ts';
import type { PluginRunner, ServiceAccounts } from '../ports.ts';
import { decodeResponse, encodeRequest, type PluginRequest } from './plugin-protocol.ts';
import { ProviderCache } from './provider-cache.ts';
import type { ProviderConfig } from './provider-config.ts';
import type { TokenAttributes } from './token-attributes.ts';

interface CredentialProviderDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly config: ProviderConfig;
  readonly binDir: string;
  readonly runner: PluginRunner;
  readonly accounts?: ServiceAccounts;
  readonly metrics: ImageMetrics;
}

/** The node or the service account that a plugin run is for. */
interface PluginCaller {
  readonly source: CredentialSource;
  /** Separates callers whose answers must not be mixed; empty for the node. */
  readonly key: string;
  readonly account?: PluginRequest['account'] & object;
}

const nothing: readonly KeyringPart[] = [];

/** One plugin. It never fails a pull: a plugin that fails counts as one without credentials. */
export class CredentialProvider {
  readonly #deps: CredentialProviderDeps;
  readonly #cache: ProviderCache;
  readonly #flights = new SingleFlight<string, readonly RegistryEntry[]>();
  #lastFailure = '';
  /** A run outlives the pod that started it, because others may wait for it; the runner limits its time. */
  readonly #unending = new AbortController().signal;

  constructor(deps: CredentialProviderDeps) {
    this.#deps = deps;
    this.#cache = new ProviderCache(deps.clock);
  }

  async credentialsFor(pod: DesiredPod, image: string, signal: AbortSignal): Promise<readonly KeyringPart[]> {
    const { config } = this.#deps;
    if (!config.matchImages.some((pattern) => matchesImage(pattern, image))) return nothing;
    try {
      const caller = await this.#callerFor(pod, signal);
      if (caller === undefined) return nothing;
      const entries = await this.#entriesFor(image, caller, signal);
      this.#report('');
      return [{ entries, source: caller.source }];
    } catch (error) {
      signal.throwIfAborted();
      this.#report(messageOf(error), image);
      return nothing;
    }
  }

  async #entriesFor(image: string, caller: PluginCaller, signal: AbortSignal): Promise<readonly RegistryEntry[]> {
    const subject = { image, account: caller.key };
    const cached = this.#cache.get(subject);
    if (cached !== undefined) return cached;
    const flight = this.#flights.run(JSON.stringify(subject), async () => {
      const { apiVersion, defaultCacheMs } = this.#deps.config;
      const request = { image, ...(caller.account !== undefined && { account: caller.account }) };
      const { scope, cacheMs, entries } = decodeResponse(
        apiVersion,
        await this.#run(encodeRequest(apiVersion, request)),
      );
      this.#cache.put(scope, subject, entries, cacheMs ?? defaultCacheMs);
      return entries;
    });
    return raceAbort(flight, signal);
  }

  async #run(input: Masked<string>): Promise<string> {
    const { clock, runner, metrics, binDir, config } = this.#deps;
    const { name, args, environment } = config;
    const began = clock.monotonic();
    try {
      return await runner.run({ file: join(binDir, name), args, environment, input, signal: this.#unending });
    } catch (error) {
      metrics.pluginFailed(name);
      throw error;
    } finally {
      metrics.pluginRan(name, clock.monotonic() - began);
    }
  }

  /** Undefined when the plugin does not serve such a pod. */
  async #callerFor(pod: DesiredPod, signal: AbortSignal): Promise<PluginCaller | undefined> {
    const { config, accounts } = this.#deps;
    const attributes = config.tokenAttributes;
    const node: PluginCaller = { source: nodeSource, key: '' };
    if (attributes === undefined) return node;
    const name = pod.spec.serviceAccountName ?? '';
    // Static pods have no account; a plugin that does not require one serves them all the same.
    if (name === '' || accounts === undefined) return attributes.required ? undefined : node;
    const account = await accounts.get(pod.namespace, name, signal);
    if (account === undefined) {
      throw new TubeletError('notFound', `there is no service account ${pod.namespace}/${name}`);
    }
    const annotations = chosenAnnotations(attributes, account.annotations);
    if (annotations === undefined) return undefined;
    const token = await accounts.token({ pod, account: name, audience: attributes.audience }, signal);
    const { uid } = account;
    const key = [pod.namespace, name, uid, annotations, ...(attributes.cacheType === 'Token' ? [digest(token)] : [])];
    return {
      source: { kind: 'serviceAccount', uid, namespace: pod.namespace, name },
      key: JSON.stringify(key),
      account: { token, annotations },
    };
  }

  /** Logs a failure that stays the same once, and not for each pull. */
  #report(failure: string, image?: string): void {
    if (failure === this.#lastFailure) return;
    const { log, config } = this.#deps;
    this.#lastFailure = failure;
    const fields = { plugin: config.name, ...(image !== undefined && { image }) };
    if (failure === '') log.info('Credential provider answers again', fields);
    else log.warn('Credential provider gave no credentials', { ...fields, err: failure });
  }
}

/** Undefined where a required annotation is missing: the account did not opt in. */
function chosenAnnotations(
  { requiredAnnotations, optionalAnnotations }: TokenAttributes,
  annotations: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  if (requiredAnnotations.some((key) => !Object.hasOwn(annotations, key))) return undefined;
  const chosen = [...requiredAnnotations, ...optionalAnnotations].filter((key) => Object.hasOwn(annotations, key));
  return Object.fromEntries(chosen.toSorted().map((key) => [key, annotations[key] ?? '']));
}

function digest(token: Masked<string>): string {
  return createHash('sha256').update(token.reveal()).digest('hex');
}
