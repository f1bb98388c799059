import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { podFields } from '../../model/pod-log.ts';
import type { RouteRequest, RouteResponse } from '../route.ts';
import { errorPage, handOverTo, upgradeRequired } from './answers.ts';
import { askForSession, findPod, type TargetRule } from './find-target.ts';
import type { StreamingPod, StreamingPods, StreamingRuntime } from './ports.ts';

export interface SessionDeps {
  readonly log: Log;
  readonly pods: StreamingPods;
  readonly runtime: StreamingRuntime;
}

/** What a session of one kind goes to, and how the runtime is asked for it. */
interface SessionPlan {
  readonly rule: TargetRule;
  readonly ask: (id: string) => Promise<{ readonly url: string }>;
}

/**
 * The way of every session: pod, target, a session at the runtime, and the connection goes there. A client that
 * wants no other protocol is refused before the runtime is asked for anything.
 */
export async function openSession(
  deps: SessionDeps,
  request: RouteRequest,
  kind: 'exec' | 'attach' | 'portForward',
  plan: (pod: StreamingPod) => SessionPlan,
): Promise<RouteResponse> {
  const pod = findPod(deps.pods, request.params);
  if ('kind' in pod) return pod;
  if (!request.wantsUpgrade) return upgradeRequired;
  try {
    const { rule, ask } = plan(pod);
    const { url } = await askForSession(deps.pods, pod, rule, request.signal, ask);
    const answer = handOverTo(url, podFields(pod));
    return answer;
  } catch (error) {
    deps.log.debug(2, 'No streaming session', { ...podFields(pod), session: kind, err: describeError(error) });
    return errorPage(error);
  }
}
