import { createServer } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { AgentSupervisor, type AgentCommand } from './agent-supervisor.ts';
import { canonicalRoot, checkRoot, claimRoot, loadJournal, type ClaimedRoot } from './claim-root.ts';
import { installPackages } from './debian-packages.ts';
import { tailOf } from './detached-process.ts';
import { httpGet } from './http-probe.ts';
import { agentEnvironment, agentFlags, kubeletConfiguration, type AgentPlan } from './kubelet-config.ts';
import { instanceNames, type InstanceNames } from './names.ts';
import type { RunCommand, Steps } from './ports.ts';
import { checkMachine, readMachineFacts, type Problem } from './preflight.ts';
import { debianContainerd } from './containerd-software.ts';
import { chooseSnapshotter, importStarterImages, prepareNetwork, startRuntime } from './private-runtime.ts';
import { readBootId, errnoOf } from './process-table.ts';
import { removeEverything } from './remove-everything.ts';
import { prepareManifests } from './sample-pod.ts';
import { starterImages } from './starter-images.ts';

export interface UpOptions {
  readonly root: string;
  /** Instead of the folder in the root. */
  readonly manifests?: string | undefined;
  readonly nodeName: string;
  /** The endpoint of an existing runtime. */
  readonly endpoint?: string | undefined;
}

export interface UpDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly run: RunCommand;
  readonly steps: Steps;
  /** The command that starts this program, without arguments. */
  readonly self: AgentCommand;
}

export interface RunningNode {
  readonly names: InstanceNames;
  readonly manifests: string;
  /** Whether there are manifests, so that pods are expected. */
  readonly expectsPods: boolean;
  readonly agent: AgentSupervisor;
}

const healthTimeoutMs = 60_000;
const healthRetryMs = 100;
const cgroupDriver = 'cgroupfs';
/** The grace period of pods when everything is stopped. */
export const stopGraceSeconds = 5;

/** The problems that prevent `up`; empty when it may continue. Installs missing packages. */
export async function prepareMachine(options: UpOptions, deps: UpDeps): Promise<readonly Problem[]> {
  const preflight = checkMachine(readMachineFacts(), options.endpoint === undefined);
  if (!preflight.ok) return preflight.problems;
  const names = instanceNames(canonicalRoot(options.root));
  // Before anything is installed or removed: another instance may be running here.
  const abandoned = await checkRoot(names, await loadJournal(names), readBootId());
  if (preflight.install.length > 0) {
    deps.steps.note('these Debian packages are missing and will be installed with apt-get:');
    for (const entry of preflight.install) deps.steps.note(`  ${entry.name}: ${entry.why}`);
    await deps.steps.step('installing Debian packages', (progress) =>
      installPackages(preflight.install, deps.run, progress),
    );
  }
  if (abandoned) {
    await deps.steps.step('removing what an earlier run that was cut off left behind', () =>
      removeEverything(names, deps, stopGraceSeconds),
    );
  }
  return [];
}

/** Brings a node up; when that fails or is interrupted, everything is removed again. */
export async function bringUp(options: UpOptions, deps: UpDeps, signal: AbortSignal): Promise<RunningNode> {
  const claimed = await claimRoot(options.root, true);
  try {
    return await bringUpIn(claimed, options, deps, signal);
  } catch (error) {
    deps.steps.note('removing what was made so far');
    await removeEverything(claimed.names, deps, 0);
    throw error;
  }
}

async function bringUpIn(
  claimed: ClaimedRoot,
  options: UpOptions,
  deps: UpDeps,
  signal: AbortSignal,
): Promise<RunningNode> {
  const { names, keeper } = claimed;
  const { steps } = deps;
  if (options.endpoint === undefined) await bringUpRuntime(claimed, deps, signal);
  else await keeper.update((journal) => ({ ...journal, externalEndpoint: options.endpoint }));
  signal.throwIfAborted();
  const folder = options.manifests ?? names.manifests;
  const image = options.endpoint === undefined ? starterImages.busybox : undefined;
  const manifests = await steps.step('preparing the manifests folder', () => prepareManifests(folder, image, keeper));
  const plan: AgentPlan = {
    names,
    nodeName: options.nodeName,
    manifests: folder,
    endpoint: options.endpoint ?? `unix://${names.socket}`,
    healthzPort: await freePort(10_248),
    readOnlyPort: 0,
    cgroupDriver: options.endpoint === undefined ? cgroupDriver : undefined,
  };
  await writeFile(names.kubeletConfig, kubeletConfiguration(plan));
  await mkdir(names.kubeletRoot, { recursive: true });
  // With an external runtime nothing has made it yet.
  await mkdir(names.runDir, { recursive: true, mode: 0o711 });
  const agent = await steps.step('starting the agent', () => startAgent(plan, claimed, deps, signal));
  return { names, manifests: folder, expectsPods: manifests.any, agent };
}

async function bringUpRuntime(claimed: ClaimedRoot, deps: UpDeps, signal: AbortSignal): Promise<void> {
  const { steps } = deps;
  const runtime = { log: deps.log, clock: deps.clock, run: deps.run, signal };
  await steps.step('making the pod network', async (progress) => {
    const subnet = await prepareNetwork(claimed, runtime);
    progress(subnet.cidr);
  });
  const setup = { snapshotter: await chooseSnapshotter(claimed.names.root, runtime), cgroupDriver } as const;
  await steps.step('starting a private containerd', () => startRuntime(claimed, debianContainerd, setup, runtime));
  await steps.step('making the starter images', () => importStarterImages(claimed, debianContainerd, setup, runtime));
}

async function startAgent(
  plan: AgentPlan,
  { names, keeper }: ClaimedRoot,
  deps: UpDeps,
  signal: AbortSignal,
): Promise<AgentSupervisor> {
  const agent = new AgentSupervisor({
    command: {
      program: deps.self.program,
      args: [...deps.self.args, ...agentFlags(plan)],
      env: agentEnvironment(plan),
    },
    logFile: names.agentLog,
    keeper,
    clock: deps.clock,
    onRestart: (reason) => deps.steps.note(`the agent ${reason}; starting it again`),
  });
  await agent.start();
  try {
    await Promise.race([waitForHealth(plan, deps.clock, signal), agent.failed]);
    return agent;
  } catch (error) {
    await agent.stop();
    throw error;
  }
}

async function waitForHealth(plan: AgentPlan, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + healthTimeoutMs;
  while (!(await isHealthy(plan.healthzPort, clock))) {
    if (clock.monotonic() > until) {
      throw new TubeletError(
        'timeout',
        `the agent is not healthy; the end of its log:\n${await tailOf(plan.names.agentLog)}`,
      );
    }
    await clock.sleep(healthRetryMs, signal);
  }
}

async function isHealthy(port: number, clock: Clock): Promise<boolean> {
  try {
    return (await httpGet(`http://127.0.0.1:${port}/healthz`, clock, 2_000)).status === 200;
  } catch {
    // Not listening yet; the caller decides how long to wait.
    return false;
  }
}

/** The preferred port of the loopback address, or another one when it is in use. */
async function freePort(preferred: number): Promise<number> {
  return (await tryListen(preferred)) ?? (await tryListen(0)) ?? preferred;
}

function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (errnoOf(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
