import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { describeError, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ConnectRegistration, PluginHandler, PluginInfo, Registration } from './ports.ts';

interface PluginSocketDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** By type. */
  readonly handlers: Readonly<Record<string, PluginHandler>>;
  readonly connect: ConnectRegistration;
  /** The socket is removed and its plugin deregistered. */
  readonly onRemoved: (path: string) => void;
}

const connectMs = 10_000;
const infoMs = 1_000;
const notifyMs = 5_000;
const backoff = { initialMs: 500, maxMs: 122_000 };

/** The back-off after so many failures in a row. */
export function retryDelayMs(failures: number): number {
  return Math.min(backoff.initialMs * 2 ** (failures - 1), backoff.maxMs);
}

interface RegisteredPlugin {
  readonly identity: string;
  readonly plugin: PluginInfo;
  readonly handler: PluginHandler;
}

/**
 * One registration socket and the plugin behind it. Each socket has its own loop, so that a plugin that hangs delays no
 * other.
 *
 *   absent ──seen──> registering ──ok──> registered ──removed, or replaced──> deregistering ──> absent
 *                      │    ^ ^────────────────────── seen ─────────────────────┘
 *                   fails   └── after the back-off, or at once when the socket is replaced
 *                      └────────┘
 */
export class PluginSocket {
  readonly #deps: PluginSocketDeps;
  readonly #path: string;
  /** The identity of the socket file whose plugin is to be registered; undefined: none. */
  #wanted: string | undefined;
  #registered: RegisteredPlugin | undefined;
  /** Aborts the registration of a file that was replaced. */
  #attempt = new AbortController();
  #failures = 0;
  #reported: string | undefined;
  #stopped = false;
  #work: Promise<void> | undefined;

  constructor(deps: PluginSocketDeps, path: string) {
    this.#deps = deps;
    this.#path = path;
  }

  get isWanted(): boolean {
    return this.#wanted !== undefined;
  }

  get isRegistered(): boolean {
    return this.#registered !== undefined;
  }

  /** The identity of the file at the path now. */
  setFile(identity: string | undefined): void {
    if (this.#stopped || this.#wanted === identity) return;
    this.#wanted = identity;
    this.#failures = 0;
    this.#reported = undefined;
    this.#attempt.abort(new TubeletError('cancelled', `${this.#path} was replaced or removed`));
    this.#attempt = new AbortController();
    this.#work ??= this.#reconcile();
  }

  /** Aborts what is under way. Plugins stay registered: they outlive the agent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#attempt.abort(new TubeletError('cancelled', 'the agent stops'));
    await this.#work;
  }

  async #reconcile(): Promise<void> {
    // The scan that found the change finishes first.
    await Promise.resolve();
    while (!this.#stopped && this.#wanted !== this.#registered?.identity) {
      if (this.#registered !== undefined) await this.#deregister(this.#registered);
      else if (this.#wanted !== undefined) await this.#try(this.#wanted, this.#attempt.signal);
    }
    this.#work = undefined;
    if (!this.#stopped && this.#wanted === undefined) this.#deps.onRemoved(this.#path);
  }

  async #try(identity: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      await this.#register(identity, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#failures++;
      const retryMs = retryDelayMs(this.#failures);
      const message = describeError(error);
      // A dead socket may stay for years: its failure is logged as an error once.
      if (message === this.#reported)
        log.debug(4, 'Plugin still cannot be registered', { socket: this.#path, err: message, retryMs });
      else log.error(error, 'Plugin cannot be registered', { socket: this.#path, retryMs });
      this.#reported = message;
      await clock.sleep(retryMs, signal).catch(() => undefined);
    }
  }

  async #register(identity: string, signal: AbortSignal): Promise<void> {
    const { clock, log, connect } = this.#deps;
    const registration = await withTimeout(clock, connectMs, (limit) => connect(this.#path, limit), signal);
    try {
      const plugin = await withTimeout(clock, infoMs, (limit) => registration.info(limit), signal);
      const handler = await this.#registerWithHandler(plugin, registration, signal);
      // Recorded even if the socket was removed meanwhile: then it is deregistered next.
      this.#registered = { identity, plugin, handler };
      const { type, name, endpoint } = plugin;
      log.info('Plugin is registered', { type, name, endpoint, socket: this.#path });
      await this.#notify(registration, '', signal);
    } finally {
      registration.close();
    }
  }

  async #registerWithHandler(
    plugin: PluginInfo,
    registration: Registration,
    signal: AbortSignal,
  ): Promise<PluginHandler> {
    const { handlers } = this.#deps;
    try {
      const handler = Object.hasOwn(handlers, plugin.type) ? handlers[plugin.type] : undefined;
      if (handler === undefined) {
        const known = Object.keys(handlers).join(', ');
        throw new TubeletError(
          'unsupported',
          `no handler registered for plugin type "${plugin.type}" (known: ${known})`,
        );
      }
      await handler.validate(plugin);
      signal.throwIfAborted();
      await handler.register(plugin, this.#path, signal);
      return handler;
    } catch (error) {
      if (!signal.aborted) await this.#notify(registration, describeError(error), signal);
      throw error;
    }
  }

  /** A failed notification changes nothing: the plugin stays registered, or refused. */
  async #notify(registration: Registration, error: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const status = { pluginRegistered: error === '', error };
    try {
      await withTimeout(clock, notifyMs, (limit) => registration.notify(status, limit), signal);
    } catch (failure) {
      if (signal.aborted) return;
      log.warn('Plugin cannot be notified of its registration status', {
        socket: this.#path,
        err: describeError(failure),
      });
    }
  }

  async #deregister({ plugin: { type, name, endpoint }, handler }: RegisteredPlugin): Promise<void> {
    const { log } = this.#deps;
    this.#registered = undefined;
    log.info('Plugin is deregistered', { type, name, endpoint, socket: this.#path });
    try {
      await handler.deregister(name, endpoint);
    } catch (error) {
      log.error(error, 'Plugin was not deregistered cleanly', { type, name, socket: this.#path });
    }
  }
}
