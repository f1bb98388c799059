import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import { jitter, type Random } from '../../base/random.ts';
import type { Lease } from '../../gen/kubernetes/types.ts';
import type { ApiClient, RequestOptions } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import { computeLease, leaseNamespace, type LeaseNode } from './compute-lease.ts';

interface NodeLeaseDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly api: Pick<ApiClient, 'get' | 'create' | 'update'>;
  readonly nodeName: string;
  readonly durationSeconds: number;
  readonly node: () => LeaseNode | undefined;
  /** Connections may be half dead without an error: replaces them. */
  readonly resetConnections: () => void;
}

const renewFraction = 0.25;
const renewJitter = 0.04;
const triesPerRenewal = 5;
const creation = { firstMs: 100, maxMs: 7_000 };

/** Renews the lease, a few times within the period after which the control plane would consider the node dead. */
export class NodeLease implements Component {
  readonly name = 'node-lease';
  readonly #deps: NodeLeaseDeps;
  readonly #stopped = new AbortController();
  /** The lease in the API server's last answer; an update of it needs no read. */
  #known: Lease | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: NodeLeaseDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(signal, round);
    const restartBackoff = { initialMs: creation.firstMs, maxMs: creation.maxMs };
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      clock,
      random,
      log,
      restartBackoff,
      signal: this.#stopped.signal,
      body,
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const { clock, random, durationSeconds } = this.#deps;
    await this.#renew(signal);
    await round.waitFor(clock.sleep(jitter(random, durationSeconds * 1_000 * renewFraction, renewJitter), signal));
  }

  async #renew(signal: AbortSignal): Promise<void> {
    if (this.#known === undefined) this.#known = await this.#ensure(signal);
    for (let attempt = 1; ; attempt++) {
      try {
        this.#known = await this.#update(this.#known, signal);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        // Another client wrote it, or it was removed: start from the current object.
        if (isKind(error, 'conflict', 'notFound')) this.#known = await this.#ensure(signal);
        if (attempt < triesPerRenewal) continue;
        const { log, resetConnections } = this.#deps;
        log.warn('Failed to update node lease', { err: messageOf(error), tries: attempt });
        if (isKind(error, 'timeout', 'unavailable')) resetConnections();
        throw error;
      }
    }
  }

  async #ensure(signal: AbortSignal): Promise<Lease> {
    const { api, nodeName } = this.#deps;
    try {
      return await api.get<Lease>(
        apiResources.leases,
        { namespace: leaseNamespace, name: nodeName },
        this.#options(signal),
      );
    } catch (error) {
      if (!isKind(error, 'notFound')) throw error;
    }
    return api.create<Lease>(apiResources.leases, leaseNamespace, this.#lease(undefined), this.#options(signal));
  }

  #update(known: Lease, signal: AbortSignal): Promise<Lease> {
    const ref = { namespace: leaseNamespace, name: this.#deps.nodeName };
    return this.#deps.api.update<Lease>(apiResources.leases, ref, this.#lease(known), this.#options(signal));
  }

  #lease(known: Lease | undefined): Lease {
    const { clock, nodeName, durationSeconds, node } = this.#deps;
    return computeLease(known, { nodeName, durationSeconds, node: node(), nowMs: clock.now() });
  }

  /** A request that hangs must not use up the time in which the next one would still be early enough. */
  #options(signal: AbortSignal): RequestOptions {
    return { lane: 'vital', timeoutMs: this.#deps.durationSeconds * 1_000 * renewFraction, signal };
  }
}
