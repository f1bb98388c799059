import { describeError } from '../../../src/base/errors.ts';
import { clock } from '../../support/real-wait.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type AgentProgram, type JoinedNode } from './join-node.ts';

const usage = `usage: npm run control-plane -- [--join[=tubelet|kubelet]]

Starts a Kubernetes control plane on loopback, and stops and removes it on Ctrl-C.
  --join            adds this machine as a node, looked after by tubelet
  --join=kubelet    the same, looked after by the Go kubelet
`;

const lookMs = 1_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** `undefined` means no node. */
function parse(words: readonly string[]): { readonly agent: AgentProgram | undefined } | undefined {
  const agents = new Map<string, AgentProgram>([
    ['--join', 'tubelet'],
    ['--join=tubelet', 'tubelet'],
    ['--join=kubelet', 'kubelet'],
  ]);
  if (words.length === 0) return { agent: undefined };
  const agent = agents.get(words[0] ?? '');
  return words.length === 1 && agent !== undefined ? { agent } : undefined;
}

/** Runs until it is told to end. */
async function run(agent: AgentProgram | undefined, told: AbortSignal): Promise<void> {
  let plane: ControlPlane | undefined;
  let node: JoinedNode | undefined;
  try {
    say('starting the control plane');
    plane = await startControlPlane();
    if (agent !== undefined) {
      say(`joining this machine by ${agent}`);
      node = await joinNode(plane, { agent });
      say(`node ${node.name} at ${node.address} is Ready; image ${node.image} is there`);
    }
    say('');
    say(`  export KUBECONFIG=${plane.adminKubeconfig}`);
    say(`  alias kubectl=${plane.kubectlPath}`);
    say('');
    say(`API server ${plane.url}; logs and keys in ${plane.path}; Ctrl-C ends and removes all of it`);
    await watchOver(plane, node, told);
    say('stopping');
  } finally {
    await node?.destroy();
    await plane?.stop();
  }
}

/** Says once of each program that it ended by itself. */
async function watchOver(plane: ControlPlane, node: JoinedNode | undefined, told: AbortSignal): Promise<void> {
  const reported = new Set<string>();
  while (!told.aborted) {
    const gone = plane.services.filter((service) => !service.running).map((service) => service.name);
    if (node?.agent.running === false) gone.push('the agent');
    for (const name of gone.filter((entry) => !reported.has(entry))) say(`${name} has ended`);
    for (const name of gone) reported.add(name);
    await pause(told);
  }
}

/** Ends early when it is told to. */
const pause = (told: AbortSignal): Promise<void> =>
  clock.sleep(lookMs, told).catch((error: unknown) => {
    if (!told.aborted) throw error;
  });

const words = parse(process.argv.slice(2));
if (words === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const told = new AbortController();
  // Only the first counts: a second one ends this process at once, and the kernel ends the others with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => told.abort());
  try {
    await run(words.agent, told.signal);
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = 1;
  }
}
