import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import { jitter, type Random } from '../../base/random.ts';
import { Wakeup } from '../../base/wakeup.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import type { ApiClient, Mirror, MirrorChange, RequestOptions } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { NodeView } from '../node-view.ts';
import type { OwnNode } from '../own-node.ts';
import type { NodeDiff, NodeEvents } from '../ports.ts';
import { isUnschedulable, type ComputedNode } from './compute-node-status.ts';
import { computeReport, isReady, type ReportState } from './compute-report.ts';
import { conditionOf } from './pressure-conditions.ts';

interface NodeStatusDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly api: Pick<ApiClient, 'get' | 'patch'>;
  readonly mirror: Pick<Mirror<Node>, 'get'>;
  readonly own: OwnNode;
  readonly view: Pick<NodeView, 'setOwn'>;
  readonly diff: NodeDiff;
  readonly events: NodeEvents;
  /** The period of computing the node's status, and of writing it although nothing changed. */
  readonly updateMs: number;
  readonly reportMs: number;
  /** There is a node to write to, or there may be. */
  readonly registered: () => boolean;
  readonly shuttingDown: () => boolean;
  /** Connections may be half dead without an error: replaces them. */
  readonly resetConnections: () => void;
  /** The API server has this status. */
  readonly onReported: (node: Node) => void;
}

const tries = 5;
const updateJitter = 0.04;
const firstRetryMs = 1_000;
const retryJitter = 0.2;
/** After this time at the latest a healthy node is known to be healthy. */
const startupGraceMs = 10_000;
/** For how long an answer takes precedence over a mirror that may be behind it. */
const answerCountsMs = 5_000;

/**
 * Keeps the node's status at the API server current. Components with a change wake it; changes are written
 * at once, and the period covers inputs without a signal.
 */
export class NodeStatus implements Component {
  readonly name = 'node-status';
  readonly #deps: NodeStatusDeps;
  readonly #stopped = new AbortController();
  readonly #wakeup = new Wakeup();
  #loop: LoopHandle | undefined;
  #woken = false;
  #failures = 0;
  #graceUntil = 0;
  #state: ReportState = { delayMs: 0 };
  #wasUnschedulable = false;
  #answer: { readonly node: Node; readonly atMs: number } | undefined;

  constructor(deps: NodeStatusDeps) {
    this.#deps = deps;
  }

  /** Returns when the view has this machine's own node, which needs no API server. */
  async start(): Promise<void> {
    const { clock, random, log, own, view, heartbeats, updateMs } = this.#deps;
    view.setOwn((await own.initial()).node);
    const { signal } = this.#stopped;
    this.#loop = superviseLoop({
      name: this.name,
      heartbeats,
      clock,
      random,
      log,
      maxStepMs: updateMs,
      signal,
      body: (stop, round) => this.#round(stop, round),
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  /** An input of the status may have changed. */
  wake(): void {
    this.#woken = true;
    this.#wakeup.wake();
  }

  /** The node exists now, as the API server has just answered; the mirror will have it in a moment. */
  nodeRegistered(node: Node | undefined): void {
    this.#graceUntil = this.#deps.clock.monotonic() + startupGraceMs;
    if (node !== undefined) this.#remember(node);
    this.wake();
  }

  /** The mirror has changed. Only some changes trigger a write, because other clients may write to a node often. */
  mirrorChanged(change: MirrorChange<Node>): void {
    if (change.type === 'removed') return;
    if (change.type === 'put') {
      const { object, previous } = change;
      const cordoned = previous !== undefined && isUnschedulable(object) !== isUnschedulable(previous);
      if (!cordoned && isReady(object) === isReady(previous)) return;
    }
    this.wake();
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    this.#woken = false;
    try {
      if (this.#deps.registered()) await this.#update(signal);
      this.#failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.#failures++;
      this.#deps.log.error(error, 'Unable to update node status');
    }
    if (!this.#woken) await round.waitFor(this.#pause(signal));
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random, updateMs } = this.#deps;
    const untilGraceEnds = this.#graceUntil - clock.monotonic();
    const regular = jitter(random, updateMs, updateJitter);
    const retry = jitter(random, Math.min(firstRetryMs * 2 ** (this.#failures - 1), updateMs), retryJitter);
    const ms = this.#failures > 0 ? retry : untilGraceEnds > 0 ? Math.min(regular, untilGraceEnds) : regular;
    const cancel = clock.after(ms, () => this.#wakeup.wake());
    try {
      await this.#wakeup.wait(signal);
    } finally {
      cancel();
    }
  }

  async #update(signal: AbortSignal): Promise<void> {
    const { log, resetConnections } = this.#deps;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#try(attempt, signal);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        if (isKind(error, 'notFound', 'conflict')) this.#answer = undefined;
        if (attempt > 0 && isKind(error, 'timeout', 'unavailable')) resetConnections();
        if (attempt + 1 >= tries)
          throw new TubeletError('unavailable', 'update node status exceeds retry count', { cause: error });
        log.debug(2, 'Error updating node status, will retry', { err: messageOf(error) });
      }
    }
  }

  async #try(attempt: number, signal: AbortSignal): Promise<void> {
    const { clock, random, own, view, reportMs: periodMs } = this.#deps;
    const previous = await this.#known(attempt, signal);
    const computed = await own.update(previous, this.#wasUnschedulable);
    view.setOwn(computed.node);
    const nowMs = clock.monotonic();
    const shuttingDown = this.#deps.shuttingDown();
    const input = { nowMs, periodMs, random: random.next(), graceUntilMs: this.#graceUntil, shuttingDown };
    const report = computeReport(previous, computed.node, this.#state, input);
    if (report.kind === 'keep' && report.why === 'startupGrace') return;
    if (report.kind === 'send') {
      await this.#send(previous, computed.node, signal);
      this.#state = { lastMs: clock.monotonic(), delayMs: report.delayMs };
    }
    this.#settle(previous, computed);
  }

  /** First from memory, then from the API server itself. */
  async #known(attempt: number, signal: AbortSignal): Promise<Node> {
    const { api, mirror, own } = this.#deps;
    const { nodeName: name } = own.settings;
    const known = attempt === 0 ? this.#newest(mirror.get({ name })) : undefined;
    return known ?? api.get<Node>(apiResources.nodes, { name }, this.#options(signal));
  }

  /** A mirror that is behind our last write would cause the same write again. */
  #newest(mirrored: Node | undefined): Node | undefined {
    const { clock } = this.#deps;
    if (this.#answer === undefined || clock.monotonic() - this.#answer.atMs > answerCountsMs) return mirrored;
    return mirrored === undefined || versionOf(mirrored) < versionOf(this.#answer.node) ? this.#answer.node : mirrored;
  }

  async #send(previous: Node, next: Node, signal: AbortSignal): Promise<void> {
    const { api, diff, own } = this.#deps;
    const patch = diff(previous, next);
    if (patch === undefined) return;
    const options = { type: 'strategic', subresource: 'status', ...this.#options(signal) } as const;
    this.#remember(await api.patch<Node>(apiResources.nodes, { name: own.settings.nodeName }, patch, options));
  }

  /** Events are recorded after the write: a failed write is repeated, and must not record them twice. */
  #settle(previous: Node, { node, events }: ComputedNode): void {
    this.#wasUnschedulable = isUnschedulable(node);
    for (const event of events) this.#record(event);
    const { log, own, onReported } = this.#deps;
    onReported(node);
    if (isReady(node) === isReady(previous)) return;
    const condition = conditionOf(node, 'Ready');
    if (isReady(node)) log.info('Node became ready', { node: own.settings.nodeName });
    else log.warn('Node became not ready', { node: own.settings.nodeName, condition });
  }

  #record(event: ObjectEvent): void {
    const { log, events, own } = this.#deps;
    log.debug(2, 'Recording event message for node', { node: own.settings.nodeName, event: event.reason });
    events.record(event);
  }

  #remember(node: Node): void {
    this.#answer = { node, atMs: this.#deps.clock.monotonic() };
  }

  #options(signal: AbortSignal): RequestOptions {
    return { lane: 'vital', timeoutMs: this.#deps.updateMs, signal };
  }
}

/** Versions are counted up by the server's store. */
function versionOf({ metadata }: Node): bigint {
  const text = metadata?.resourceVersion ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
}
