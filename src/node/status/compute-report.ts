import type { Node } from '../../gen/kubernetes/types.ts';
import { conditionOf } from './pressure-conditions.ts';
import { readyType } from './ready-condition.ts';
import { isSameNode } from './same-node.ts';

/** Times are monotonic. */
export interface ReportState {
  /** When a status was last written; undefined before the first of this life. */
  readonly lastMs?: number;
  /** Added to the period since then; chosen at each change, so that nodes that change together drift apart again. */
  readonly delayMs: number;
}

export interface ReportInput {
  readonly nowMs: number;
  readonly periodMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** Until then a ready node is not reported as not ready. */
  readonly graceUntilMs: number;
  /** The node is not ready on purpose. */
  readonly shuttingDown: boolean;
}

type Report =
  | { readonly kind: 'keep'; readonly why: 'same' | 'startupGrace' }
  | { readonly kind: 'send'; readonly why: 'changed' | 'due'; readonly delayMs: number };

/**
 * When to write: at once when anything but a heartbeat changed, and periodically otherwise. An agent that has
 * just started knows less than it will soon, so a ready node is not reported as not ready for a while.
 */
export function computeReport(previous: Node, next: Node, state: ReportState, input: ReportInput): Report {
  const { nowMs, periodMs, random, graceUntilMs, shuttingDown } = input;
  const lost = isReady(previous) && !isReady(next);
  if (lost && nowMs < graceUntilMs && !shuttingDown) return { kind: 'keep', why: 'startupGrace' };
  if (!isSameNode(previous, next)) return { kind: 'send', why: 'changed', delayMs: periodMs * (random - 0.5) };
  const due = state.lastMs === undefined || nowMs - state.lastMs >= periodMs + state.delayMs;
  return due ? { kind: 'send', why: 'due', delayMs: 0 } : { kind: 'keep', why: 'same' };
}

export function isReady(node: Node | undefined): boolean {
  return conditionOf(node, readyType)?.status === 'True';
}
