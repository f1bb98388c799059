import type { CallOptions } from '../../base/call.ts';
import type { Clock } from '../../base/clock.ts';
import { wordsOf } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { ExecSyncRequest, ExecSyncResponse } from '../../gen/cri/api.ts';
import type { Container, LifecycleHandler } from '../../gen/kubernetes/types.ts';
import { computeHookRequest, type HookRequest } from './compute-hook-request.ts';

/** Runs commands inside containers. */
export interface CommandRuntime {
  execSync(request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResponse>;
}

/** Sends the request of an httpGet hook. The answer only matters in that there is one. */
export interface HookRequests {
  send(request: HookRequest, signal: AbortSignal): Promise<HookAnswer>;
}

export type HookAnswer = { readonly status: number } | { readonly plainHttp: true };

export interface HookDeps {
  readonly clock: Clock;
  readonly runtime: CommandRuntime;
  readonly requests: HookRequests;
  /** An https hook was answered in plain HTTP, and was sent again that way. */
  readonly onPlainHttp?: () => void;
}

export interface HookInput {
  readonly handler: LifecycleHandler;
  readonly container: Container;
  readonly id: ContainerId;
  readonly podIp: string;
}

/** What a failed hook says; nothing when it went well. */
export async function runHook(deps: HookDeps, input: HookInput, signal: AbortSignal): Promise<string | undefined> {
  const { handler } = input;
  try {
    if (handler.exec !== undefined) return await runCommand(deps, input, handler.exec.command ?? [], signal);
    if (handler.httpGet !== undefined) return await runRequest(deps, input, signal);
    if (handler.sleep !== undefined) {
      await deps.clock.sleep(handler.sleep.seconds * 1_000, signal);
      return undefined;
    }
    // The API accepts it for old manifests; no kubelet has ever run it.
    return handler.tcpSocket === undefined ? 'invalid handler: none given' : 'invalid handler: tcpSocket';
  } catch (error) {
    signal.throwIfAborted();
    return wordsOf(error);
  }
}

async function runCommand(
  { runtime }: HookDeps,
  { id }: HookInput,
  cmd: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  // No deadline of its own: a preStop hook is bounded by the pod's grace, a postStart hook by nothing.
  const { exitCode, stdout, stderr } = await runtime.execSync(
    { containerId: id, cmd: [...cmd], timeout: 0n },
    { signal },
  );
  if (exitCode === 0) return undefined;
  const output = Buffer.concat([stdout, stderr]).toString('utf8').trim();
  return `command '${cmd.join(' ')}' exited with ${exitCode}: ${output}`;
}

async function runRequest(deps: HookDeps, input: HookInput, signal: AbortSignal): Promise<string | undefined> {
  const request = computeHookRequest(input);
  if ('problem' in request) return request.problem;
  const answer = await deps.requests.send(request, signal);
  if ('status' in answer) return undefined;
  deps.onPlainHttp?.();
  await deps.requests.send({ ...request, url: request.url.replace(/^https:/, 'http:') }, signal);
  return undefined;
}
