import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, remoteMessageOf } from '../../base/errors.ts';
import { KeyedWork, type WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import type { ApiClient, RequestOptions } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { NodeStartup } from '../node-startup.ts';
import type { OwnNode } from '../own-node.ts';
import type { NodeDiff, NodeEvents } from '../ports.ts';
import { reconcileExisting } from './reconcile-existing.ts';

interface RegisterNodeDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: Pick<ApiClient, 'create' | 'get' | 'patch'>;
  readonly own: OwnNode;
  readonly diff: NodeDiff;
  readonly events: NodeEvents;
  /** False: another component of the cluster makes the node, and the agent only reports to it. */
  readonly registerNode: boolean;
  /** Whether it is unknown which devices the node of that name had before. */
  readonly resetExtendedResources: () => boolean;
  /** Called once, with the node as the API server has it where that is known. */
  readonly onRegistered: (node: Node | undefined) => void;
  readonly startup: Pick<NodeStartup, 'attempted' | 'registered'>;
  readonly watch: WorkQueueMetrics | undefined;
}

const backoff = { initialMs: 100, maxMs: 7_000 };

/**
 * Registers the node at the API server, once in a life: if the node is deleted later, that was intended.
 *
 *   unknown ──created, or found and reconciled──> registered
 *      ^──────── anything else: again, later ────────┘
 */
export class RegisterNode implements Component {
  readonly name = 'node-registration';
  readonly #deps: RegisterNodeDeps;
  readonly #work: KeyedWork<'node'>;
  #registered = false;
  #recorded = false;

  constructor(deps: RegisterNodeDeps) {
    this.#deps = deps;
    const { clock, random, log } = deps;
    this.#work = new KeyedWork({
      name: this.name,
      clock,
      random,
      parallel: 1,
      backoff,
      watch: deps.watch,
      work: (_, signal) => this.#register(signal),
      onError: (_, error, retryMs) => log.error(error, 'Unable to register node with API server', { retryMs }),
    });
  }

  isRegistered(): boolean {
    return this.#registered;
  }

  async start(): Promise<void> {
    await this.#work.start();
    if (this.#deps.registerNode) this.#work.wake('node');
    else this.#done(undefined);
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { api, own, log, events, startup } = this.#deps;
    const { nodeName } = own.settings;
    startup.attempted();
    const initial = await own.initial();
    // Events about the node are recorded once, however long the API server keeps the agent waiting.
    if (!this.#recorded) for (const event of initial.events) events.record(event);
    this.#recorded = true;
    log.info('Attempting to register node', { node: nodeName });
    try {
      const created = await api.create<Node>(apiResources.nodes, undefined, initial.node, options(signal));
      log.info('Successfully registered node', { node: nodeName });
      startup.registered();
      this.#done(created);
    } catch (error) {
      // Some clusters let a node read its object but not create it: then it may exist all the same.
      if (!isKind(error, 'alreadyExists', 'denied')) throw error;
      log.debug(2, 'The node could not be created, trying to get an existing one', {
        node: nodeName,
        err: remoteMessageOf(error),
      });
      this.#done(await this.#reconcile(initial.node, signal));
    }
  }

  async #reconcile(initial: Node, signal: AbortSignal): Promise<Node> {
    const { api, own, diff, log, resetExtendedResources } = this.#deps;
    const ref = { name: own.settings.nodeName };
    const existing = await api.get<Node>(apiResources.nodes, ref, options(signal));
    log.info('Node was previously registered', { node: ref.name });
    const patch = diff(existing, reconcileExisting(initial, existing, resetExtendedResources()));
    if (patch === undefined) return existing;
    const request = { type: 'strategic', subresource: 'status', ...options(signal) } as const;
    return api.patch<Node>(apiResources.nodes, ref, patch, request);
  }

  #done(node: Node | undefined): void {
    this.#registered = true;
    this.#deps.onRegistered(node);
  }
}

const options = (signal: AbortSignal): RequestOptions => ({ lane: 'vital', signal });
