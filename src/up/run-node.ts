import { describeError, messageOf } from '../base/errors.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import { bringUp, stopGraceSeconds, type RunningNode, type UpDeps, type UpOptions } from './bring-up.ts';
import type { PodDisplay } from './ports.ts';
import { removeEverything } from './remove-everything.ts';
import { answers, fetchPods, readinessOf } from './watch-pods.ts';

/** The line that scripts wait for. */
export const readyWord = 'ready';

const pollMs = 1_000;

/**
 * Brings a node up, shows its pods until the signal aborts or the agent cannot be kept running, and removes everything
 * again. Throws what went wrong.
 */
export async function runNode(
  options: UpOptions,
  deps: UpDeps,
  display: PodDisplay,
  signal: AbortSignal,
): Promise<void> {
  // Ends the loops when the user stops or the agent fails for good.
  const over = new AbortController();
  const onAbort = (): void => over.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const node = await bringUp(options, deps, over.signal);
    printUsage(node, deps);
    node.agent.failed.catch((error: unknown) => over.abort(error));
    await watch(node, deps, display, over.signal);
    const { failed } = node.agent;
    await node.agent.stop();
    await stop(node, deps);
    await failed;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function printUsage(node: RunningNode, deps: UpDeps): void {
  deps.steps.note(`manifests: ${node.manifests} (a pod manifest in it starts a pod, its removal stops it)`);
  deps.steps.note(`logs: ${node.names.agentLog}, ${node.names.podLogs}`);
  deps.steps.note('Ctrl-C stops the pods and removes everything but your own manifests; a second one leaves at once');
}

async function watch(node: RunningNode, deps: UpDeps, display: PodDisplay, signal: AbortSignal): Promise<void> {
  let announced = false;
  let complaint = '';
  while (!signal.aborted) {
    try {
      const pods = await fetchPods(node.names.agentSocket, deps.clock);
      complaint = '';
      const url: string | undefined = announced ? readyUrl(pods, node) : await announce(pods, node, deps, display);
      announced ||= url !== undefined;
      display.show(pods, url ? [`url: ${url}`] : []);
    } catch (error) {
      // Printed once per outage of the agent.
      if (complaint !== messageOf(error)) display.say(`the agent does not report its pods: ${describeError(error)}`);
      complaint = messageOf(error);
    }
    await deps.clock.sleep(pollMs, signal).catch(() => undefined);
  }
}

/**
 * Prints the ready line once the pods are ready and the page answers. Answers the address, empty when there is none.
 */
async function announce(
  pods: readonly Pod[],
  node: RunningNode,
  deps: UpDeps,
  display: PodDisplay,
): Promise<string | undefined> {
  const { ready, url } = readinessOf(pods, node.expectsPods);
  if (!ready || (url !== undefined && !(await answers(url, deps.clock)))) return undefined;
  display.show(pods, []);
  if (url !== undefined) display.say(`url: ${url}`);
  display.say(readyWord);
  return url ?? '';
}

function readyUrl(pods: readonly Pod[], node: RunningNode): string {
  return readinessOf(pods, node.expectsPods).url ?? '';
}

async function stop(node: RunningNode, deps: UpDeps): Promise<void> {
  const result = await deps.steps.step('stopping the pods and removing everything', () =>
    removeEverything(node.names, deps, stopGraceSeconds),
  );
  if (result.keptManifests !== undefined) deps.steps.note(`your manifests stay in ${result.keptManifests}`);
}
