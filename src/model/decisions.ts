import type { PodUid } from '../base/ids.ts';

/** What can be decided about a pod or the node. docs/glossary.md explains each. */
export const decisionKinds = [
  'admit',
  'reject',
  'preempt',
  'evict',
  'wait',
  'pull',
  'createSandbox',
  'start',
  'restart',
  'refuse',
  'backOff',
  'probe',
  'kill',
  'terminate',
  'finish',
  'retry',
  'giveUp',
  'remove',
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

/** Which part of the agent decided. */
export type Decider =
  | 'admission'
  | 'eviction'
  | 'housekeeping'
  | 'images'
  | 'node'
  | 'node-shutdown'
  | 'pod-runtime'
  | 'pod-sync'
  | 'pod-worker'
  | 'probes'
  | 'volumes';

export type DecisionInput =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly DecisionInput[]
  | { readonly [name: string]: DecisionInput };

/** What was decided, why, and what it was decided from. The time is the recorder's. */
export interface Decision {
  readonly kind: DecisionKind;
  readonly by: Decider;
  /** One word for programs to compare: the kubelet's own reason where there is one. */
  readonly reason: string;
  /** For people. Never values of Secrets, environments or arguments of commands. */
  readonly message: string;
  readonly containerName?: string;
  /** The facts that decided it, small: what is too long, too many or too deep is cut when it is recorded. */
  readonly inputs?: { readonly [name: string]: DecisionInput };
  /** In how many milliseconds it is tried again, where that is known. */
  readonly nextTryInMs?: number;
}

/** As much of a pod as a decision about it needs; of an orphan or a leftover little more than the uid is known. */
export interface DecisionSubject {
  readonly uid: PodUid;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * Takes every decision about a pod or the node. The component that decides records changes and acts: a round that finds
 * nothing new records nothing. Recording neither fails nor waits.
 */
export interface Decisions {
  pod(pod: DecisionSubject, decision: Decision): void;
  node(decision: Decision): void;
}
