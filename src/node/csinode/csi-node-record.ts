import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, wordsOf } from '../../base/errors.ts';
import { KeyedWork, type WorkWatch } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { CSINode, Node } from '../../gen/kubernetes/types.ts';
import type { ApiClient, RequestOptions } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import { newCsiNode, reconciledCsiNode } from './compute-csi-node.ts';

export interface CsiNodeRecordDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: Pick<ApiClient, 'get' | 'create' | 'update'>;
  readonly nodeName: string;
  /** What stands in the way of ready has changed. */
  readonly onChange: () => void;
  readonly watch?: WorkWatch | undefined;
}

const backoff = { initialMs: 100, maxMs: 7_000 };
const notYet = 'CSINode is not yet initialized';

/** Sees to it that the node has its record of storage drivers; until then no pod should come here. */
export class CsiNodeRecord implements Component {
  readonly name = 'csi-node';
  readonly #deps: CsiNodeRecordDeps;
  readonly #work: KeyedWork<'csi-node'>;
  #node: Node | undefined;
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
      work: (_, signal) => this.#initialize(signal),
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
  }

  /** The node is registered, and there can be a record of it. */
  begin(node: Node | undefined): void {
    this.#node = node;
    this.#work.wake('csi-node');
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const { api, log, nodeName: name } = this.#deps;
    const existing = await this.#existing(signal);
    if (existing === undefined) {
      const node = this.#node ?? (await api.get<Node>(apiResources.nodes, { name }, options(signal)));
      await api.create<CSINode>(apiResources.csiNodes, undefined, newCsiNode(node), options(signal));
    } else {
      const wanted = reconciledCsiNode(existing);
      if (wanted !== undefined) await api.update<CSINode>(apiResources.csiNodes, { name }, wanted, options(signal));
    }
    log.debug(2, 'CSINode is initialized', { node: name });
    this.#tell(undefined);
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
    this.#deps.log.error(error, 'Failed to initialize CSINode', { retryMs });
    const away = isKind(error, 'unavailable', 'timeout', 'exhausted');
    this.#tell(away ? notYet : `failed to initialize CSINode: ${wordsOf(error)}`);
  }

  #tell(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    this.#deps.onChange();
  }
}

const options = (signal: AbortSignal): RequestOptions => ({ lane: 'vital', signal });
