import { isKind, TubeletError } from '../../base/errors.ts';
import { goQuote } from '../../model/go-text.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { text, type Page } from '../route.ts';
import type { StreamingPod, StreamingPods } from './ports.ts';

type Params = Readonly<Record<string, string>>;

/** The pod that the path names, or why it is not to be had. A uid in the path must be the pod's. */
export function findPod(pods: Pick<StreamingPods, 'pod'>, params: Params): StreamingPod | Page {
  const { namespace = '', pod: name = '', uid } = params;
  const pod = pods.pod(namespace, name);
  if (pod === undefined) return text(404, 'pod does not exist');
  return uid === undefined || uid === pod.uid ? pod : text(404, 'pod not found');
}

/** Which part of a pod a session goes to, and what is said when there is none. */
export interface TargetRule {
  pick(seen: ObservedPod): string | undefined;
  readonly missing: string;
}

/** The newest instance of a container that runs. */
export function runningContainer(name: string): TargetRule {
  return {
    pick: ({ containers }) =>
      containers.find((container) => container.name === name && container.state === 'running')?.id,
    missing: `container not found (${goQuote(name)})`,
  };
}

export function readySandbox(pod: Pick<StreamingPod, 'fullName'>): TargetRule {
  return {
    pick: ({ sandboxes }) => sandboxes.find(({ state }) => state === 'ready')?.id,
    missing: `pod not found (${goQuote(pod.fullName)})`,
  };
}

/** The target as the runtime has it now. */
export async function inspectTarget(
  pods: Pick<StreamingPods, 'inspect'>,
  pod: StreamingPod,
  rule: TargetRule,
  signal: AbortSignal,
): Promise<string> {
  const id = rule.pick(await pods.inspect(pod.uid, signal));
  if (id === undefined) throw new TubeletError('internal', rule.missing);
  return id;
}

/**
 * Asks the runtime for a session with the target that is known. When it is not known, or the runtime refuses, it may
 * just have been replaced: then the pod is inspected, and another target is asked for. Only for what may be asked twice.
 */
export async function askForSession<Answer>(
  pods: Pick<StreamingPods, 'observed' | 'inspect'>,
  pod: StreamingPod,
  rule: TargetRule,
  signal: AbortSignal,
  ask: (id: string) => Promise<Answer>,
): Promise<Answer> {
  const known = rule.pick(await pods.observed(pod.uid, signal));
  if (known === undefined) return ask(await inspectTarget(pods, pod, rule, signal));
  try {
    return await ask(known);
  } catch (error) {
    // None of these says anything about the target.
    if (isKind(error, 'exhausted', 'unavailable', 'timeout', 'cancelled')) throw error;
    const now = await inspectTarget(pods, pod, rule, signal);
    if (now === known) throw error;
    return ask(now);
  }
}
