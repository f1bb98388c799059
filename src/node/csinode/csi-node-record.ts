import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Due } from '../../base/due.ts';
import { isKind, TubeletError, remoteMessageOf } from '../../base/errors.ts';
import { KeyedWork, type WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { CSINode, Node } from '../../gen/kubernetes/types.ts';
import type { ApiClient, RequestOptions } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { StorageDriver } from '../../model/storage-driver.ts';
import { newCsiNode, reconciledCsiNode } from './compute-csi-node.ts';
import { nextCsiNode, nodeDriverPatch, topologyCollision } from './compute-drivers.ts';

interface CsiNodeRecordDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: Pick<ApiClient, 'get' | 'create' | 'update' | 'patch'>;
  readonly nodeName: string;
  /** The reason for not being ready has changed. */
  readonly statusDue: Pick<Due, 'mark'>;
  readonly watch: WorkQueueMetrics | undefined;
}

const backoff = { initialMs: 100, maxMs: 7_000 };
const notYet = 'CSINode is not yet initialized';

/** A driver to be recorded, or to be removed when `driver` is undefined, that has not been written since. */
interface Change {
  readonly driver: StorageDriver | undefined;
  /** Settles the callers that wait for it. */
  readonly settle: (error?: unknown) => void;
}

/**
 * Makes sure that the node has its CSINode; until then no pod should come here. Then keeps the CSINode and the node up
 * to date with what drivers report.
 */
export class CsiNodeRecord implements Component {
  readonly name = 'csi-node';
  readonly #deps: CsiNodeRecordDeps;
  readonly #work: KeyedWork<'csi-node'>;
  /** Changes that are not written to the API server yet, by driver. */
  readonly #changes = new Map<string, Change>();
  #node: Node | undefined;
  #begun = false;
  #initialized = false;
  #problem: string | undefined = notYet;

  constructor(deps: CsiNodeRecordDeps) {
    this.#deps = deps;
    const { clock, random } = deps;
    this.#work = new KeyedWork({
      name: this.name,
      clock,
      random,
      parallel: 1,
      backoff,
      watch: deps.watch,
      work: (_, signal) => this.#round(signal),
      onError: (_, error, retryMs) => this.#failed(error, retryMs),
    });
  }

  /** Why the node is not ready for storage; undefined when it is. */
  problem(): string | undefined {
    return this.#problem;
  }

  async start(): Promise<void> {
    await this.#work.start();
  }

  async stop(): Promise<void> {
    await this.#work.stop();
    for (const { settle } of this.#changes.values()) settle(new TubeletError('cancelled', 'the agent stops'));
  }

  /** The node is registered, so that its CSINode can be made. */
  begin(node: Node | undefined): void {
    this.#node = node;
    this.#begun = true;
    this.#work.wake('csi-node');
  }

  /**
   * Resolves when a driver is recorded at the API server. Rejects when the API server or the node refuses it. What only
   * has to wait, for the server or for the node, is written later whether or not its caller still waits.
   */
  setDriver(name: string, driver: StorageDriver, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#change(name, driver, (error) => {
        signal.removeEventListener('abort', onAbort);
        if (error === undefined) resolve();
        else reject(error);
      });
      if (signal.aborted) onAbort();
    });
  }

  /** The driver was removed. Its labels stay on the node. */
  removeDriver(name: string): void {
    this.#change(name, undefined, () => undefined);
  }

  #change(name: string, driver: StorageDriver | undefined, settle: Change['settle']): void {
    this.#changes.get(name)?.settle(new TubeletError('cancelled', `driver ${name} has changed since`));
    this.#changes.set(name, { driver, settle });
    this.#work.wake('csi-node');
  }

  async #round(signal: AbortSignal): Promise<void> {
    if (!this.#begun) return;
    if (!this.#initialized) await this.#initialize(signal);
    if (this.#changes.size > 0) await this.#writeDrivers(signal);
  }

  /** One by one: a fault of one driver must not block the others. */
  async #writeDrivers(signal: AbortSignal): Promise<void> {
    let failure: Error | undefined;
    for (const [name, change] of this.#changes) {
      try {
        await this.#writeDriver(name, change.driver, signal);
        this.#settled(name, change);
      } catch (error) {
        signal.throwIfAborted();
        if (change.driver === undefined || !isRefusal(error)) failure ??= asError(error);
        else this.#settled(name, change, error);
      }
    }
    if (failure !== undefined) throw failure;
  }

  /** The node first: readers of a recorded driver need its labels. A removed driver leaves the record first. */
  async #writeDriver(name: string, driver: StorageDriver | undefined, signal: AbortSignal): Promise<void> {
    const { api, nodeName } = this.#deps;
    const wanted = new Map([[name, driver]]);
    const node = await api.get<Node>(apiResources.nodes, { name: nodeName }, options(signal));
    const collision = topologyCollision(node, driver);
    if (collision !== undefined) throw new TubeletError('invalid', `driver ${name} ${collision}`);
    if (driver !== undefined) await this.#patchNode(nodeDriverPatch(node, name, driver), signal);
    let record = (await this.#existing(signal)) ?? (await this.#create(node, signal));
    // Twice where an entry must be removed before it is added again.
    for (let step = 0; step < 2; step++) {
      const next = nextCsiNode(record, wanted);
      if (next === undefined) break;
      record = await api.update<CSINode>(apiResources.csiNodes, { name: nodeName }, next, options(signal));
    }
    if (driver === undefined) await this.#patchNode(nodeDriverPatch(node, name, undefined), signal);
  }

  async #patchNode(patch: unknown, signal: AbortSignal): Promise<void> {
    if (patch === undefined) return;
    const { api, nodeName: name } = this.#deps;
    const request = { type: 'strategic', subresource: 'status', ...options(signal) } as const;
    await api.patch<Node>(apiResources.nodes, { name }, patch, request);
  }

  /** Settles the waiting callers, unless the driver has changed again meanwhile. */
  #settled(name: string, change: Change, error?: unknown): void {
    if (this.#changes.get(name) !== change) return;
    this.#changes.delete(name);
    change.settle(error);
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const { api, log, nodeName: name } = this.#deps;
    const existing = await this.#existing(signal);
    if (existing === undefined) {
      await this.#create(this.#node ?? (await api.get<Node>(apiResources.nodes, { name }, options(signal))), signal);
    } else {
      const wanted = reconciledCsiNode(existing);
      if (wanted !== undefined) await api.update<CSINode>(apiResources.csiNodes, { name }, wanted, options(signal));
    }
    this.#initialized = true;
    log.debug(2, 'CSINode is initialized', { node: name });
    this.#setProblem(undefined);
  }

  #create(node: Node, signal: AbortSignal): Promise<CSINode> {
    return this.#deps.api.create<CSINode>(apiResources.csiNodes, undefined, newCsiNode(node), options(signal));
  }

  async #existing(signal: AbortSignal): Promise<CSINode | undefined> {
    const { api, nodeName: name } = this.#deps;
    try {
      return await api.get<CSINode>(apiResources.csiNodes, { name }, options(signal));
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw error;
    }
  }

  #failed(error: unknown, retryMs: number): void {
    const { log } = this.#deps;
    if (this.#initialized) return log.error(error, 'Failed to update CSINode', { retryMs });
    log.error(error, 'Failed to initialize CSINode', { retryMs });
    const away = isKind(error, 'unavailable', 'timeout', 'exhausted');
    this.#setProblem(away ? notYet : `failed to initialize CSINode: ${remoteMessageOf(error)}`);
  }

  #setProblem(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    this.#deps.statusDue.mark();
  }
}

const options = (signal: AbortSignal): RequestOptions => ({ lane: 'vital', signal });

/** Errors that a retry will not change. A conflict is a concurrent write; a node may come back. */
const isRefusal = (error: unknown): boolean =>
  !isKind(error, 'unavailable', 'timeout', 'exhausted', 'conflict', 'alreadyExists', 'notFound', 'cancelled');

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new TubeletError('internal', String(error));
