import type { CallOptions } from '../../base/call.ts';
import type { Clock } from '../../base/clock.ts';
import { cutBytes, cutText, maxMessageBytes } from '../../base/cut-text.ts';
import { grpcErrorText, messageOf } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { ExecSyncRequest, ExecSyncResponse } from '../../gen/cri/api.ts';
import type { Container, LifecycleHandler } from '../../gen/kubernetes/types.ts';
import { goQuote } from '../../model/go-text.ts';
import { codeOf, dialFailure } from '../../model/network-text.ts';
import { computeHookRequest, type HookRequest } from './compute-hook-request.ts';

/** Runs commands inside containers. */
export interface CommandRuntime {
  execSync(request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResponse>;
}

/** Sends the request of an httpGet hook. Any answer is a success. */
export interface HookRequests {
  send(request: HookRequest, signal: AbortSignal): Promise<HookAnswer>;
}

export type HookAnswer = { readonly status: number } | { readonly plainHttp: true };

export interface HookDeps {
  readonly clock: Clock;
  readonly runtime: CommandRuntime;
  readonly requests: HookRequests;
}

interface HookInput {
  readonly handler: LifecycleHandler;
  readonly container: Container;
  readonly id: ContainerId;
  readonly podIp: string;
  /** The pod as messages name it. */
  readonly podName: string;
  /** An https hook was answered in plain HTTP, and was sent again that way to this host. */
  readonly onPlainHttp?: (host: string) => void;
}

/** Limit of a command in a message, which contains it twice. */
const maxCommandBytes = 1_024;

/** The message of a failed hook, cut to 10 KiB; nothing when it succeeded. */
export async function runHook(deps: HookDeps, input: HookInput, signal: AbortSignal): Promise<string | undefined> {
  const { exec, httpGet, sleep, tcpSocket } = input.handler;
  if (exec !== undefined) return runCommand(deps, input, exec.command ?? [], signal);
  if (httpGet !== undefined) {
    const problem = await runRequest(deps, input, signal);
    return problem && describe(input, `HTTP lifecycle hook (${cutText(httpGet.path ?? '', maxCommandBytes)})`, problem);
  }
  if (sleep !== undefined) {
    await deps.clock.sleep(sleep.seconds * 1_000, signal);
    return undefined;
  }
  // The API accepts tcpSocket for old manifests; no kubelet has ever run it.
  return `Cannot run handler: invalid handler: ${tcpSocket === undefined ? 'none given' : 'tcpSocket'}`;
}

/** The same for the log, without arguments of commands: they may be passwords. */
export function withoutArguments(problem: string, { exec }: LifecycleHandler): string {
  const [program = '', ...rest] = exec?.command ?? [];
  return rest.length === 0 ? problem : problem.replaceAll([program, ...rest].join(' '), `${program} …`);
}

function describe({ container, podName }: HookInput, hook: string, problem: string): string {
  return `${hook} for Container ${goQuote(container.name)} in Pod ${goQuote(podName)} failed - error: ${problem}`;
}

async function runCommand(
  { runtime }: HookDeps,
  input: HookInput,
  cmd: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const command = cutText(cmd.join(' '), maxCommandBytes);
  const failed = (problem: string, ...output: readonly Uint8Array[]): string => {
    const printed = goQuote(cutBytes(maxMessageBytes, ...output));
    return `${describe(input, `Exec lifecycle hook ([${command}])`, problem)}, message: ${printed}`;
  };
  try {
    // No deadline of its own: a preStop hook is bounded by the pod's grace, a postStart hook by nothing.
    const request = { containerId: input.id, cmd: [...cmd], timeout: 0n };
    const { exitCode, stdout, stderr } = await runtime.execSync(request, { signal });
    if (exitCode === 0) return undefined;
    const problem = `command '${command}' exited with ${exitCode}: ${cutBytes(maxMessageBytes, stderr)}`;
    return failed(problem, stdout, stderr);
  } catch (error) {
    signal.throwIfAborted();
    return failed(cutText(grpcErrorText(error)));
  }
}

async function runRequest(deps: HookDeps, input: HookInput, signal: AbortSignal): Promise<string | undefined> {
  const request = computeHookRequest(input);
  if ('problem' in request) return request.problem;
  const { host } = new URL(request.url);
  const answer = await sendOnce(deps, request, signal);
  if (typeof answer === 'string' || 'status' in answer) return typeof answer === 'string' ? answer : undefined;
  // Credentials that were meant for an encrypted connection must not go over a plain one.
  const headers = request.headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  const again = await sendOnce(deps, { headers, url: request.url.replace(/^https:/, 'http:') }, signal);
  if (typeof again === 'string') return again;
  input.onPlainHttp?.(host);
  return undefined;
}

/** The answer, or why there is none. */
async function sendOnce(
  { requests }: HookDeps,
  request: HookRequest,
  signal: AbortSignal,
): Promise<HookAnswer | string> {
  try {
    return await requests.send(request, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { hostname, port, protocol } = new URL(request.url);
    const number = Number(port || (protocol === 'https:' ? 443 : 80));
    const reason =
      codeOf(error) === undefined ? messageOf(error) : dialFailure(hostname.replace(/^\[|\]$/g, ''), number, error);
    return `Get ${goQuote(cutText(request.url, maxCommandBytes))}: ${cutText(reason)}`;
  }
}
