import { describeError, grpcErrorText, isKind, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { podFields, type PodFields } from '../../model/pod-log.ts';
import { type RouteRequest, type RouteResponse, text, type HandOver, type Page } from '../route.ts';
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

/** The runtime drops sessions that no client connects to after this long, and then has room again. */
const retryAfterSeconds = 60;

/** The answer to a client whose session could not be made. */
function errorPage(error: unknown): Page {
  const words = grpcErrorText(error);
  // Clients know these two; whatever else it is, is an error.
  if (isKind(error, 'notFound')) return text(404, words);
  if (isKind(error, 'exhausted')) {
    return { ...text(429, words), headers: { 'Retry-After': String(retryAfterSeconds) } };
  }
  return text(500, words);
}

const upgradeRequired: Page = text(400, 'Upgrade request required');

/** The connection goes to the address that the runtime has given. */
function handOverTo(url: string, about: PodFields): HandOver {
  if (!URL.canParse(url)) throw new TubeletError('internal', 'the container runtime gave no address of the session');
  return { kind: 'handOver', to: new URL(url), about };
}
