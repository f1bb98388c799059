import type { ContainerConfig, PodSandboxConfig } from '../../gen/cri/api.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podHostname } from '../../model/hostname.ts';
import { hostNetworkHostsFile, podHostsFile } from '../../model/hosts-file.ts';
import { isRefusal } from '../../model/refusal.ts';
import type { NodeFacts, RuntimeSettings } from '../../model/runtime-settings.ts';
import { verifyNonRoot } from '../../model/security-context.ts';
import { computeContainerConfig } from './compute-container-config.ts';
import { computeContainerEnv, type EnvLookup } from './compute-container-env.ts';
import type { ContainerStart } from './pod-actions.ts';
import type { ContainerFiles, Images, Refusable, Volumes } from './ports.ts';

export interface PrepareDeps {
  readonly images: Images;
  readonly volumes: Volumes;
  readonly files: ContainerFiles;
  readonly lookup: EnvLookup;
  readonly settings: RuntimeSettings;
  readonly node: NodeFacts;
  readonly hostIps: () => readonly string[];
}

export interface PrepareInput {
  readonly pod: DesiredPod;
  readonly start: ContainerStart;
  readonly podIps: readonly string[];
  readonly fieldPath: string;
  readonly sandboxConfig?: PodSandboxConfig;
}

export type PrepareContainer = (input: PrepareInput, signal: AbortSignal) => Promise<Refusable<ContainerConfig>>;

/** Gathers what a container needs before it can be made: image, environment, files, and the request for the runtime. */
export function prepareContainer(deps: PrepareDeps): PrepareContainer {
  return async ({ pod, start, podIps, fieldPath, sandboxConfig }, signal) => {
    const { container, kind } = start;
    const image = await deps.images.ensure(pod, container, fieldPath, signal, {
      ...(sandboxConfig && { sandboxConfig }),
    });
    if ('refusal' in image) return image;

    const { settings, node } = deps;
    const hostIps = deps.hostIps();
    const where = { pod, container, podIps: pod.spec.hostNetwork === true ? hostIps : podIps, hostIps };
    const env = computeContainerEnv({ ...where, nodeName: settings.nodeName, node, lookup: deps.lookup });
    if (isRefusal(env)) return env;
    // Before any file is made: this is tried again and again, and each try would leave one behind.
    const rootRefusal = verifyNonRoot(pod, container, image.ok.user);
    if (rootRefusal !== undefined) return rootRefusal;

    const [logged, etcHosts, terminationLog] = await Promise.all([
      deps.files.prepareLogs(pod, container.name),
      writeHosts(deps, pod, podIps),
      makeTerminationLog(deps, pod, container),
    ]);
    const config = computeContainerConfig({
      ...where,
      kind,
      restartCount: computeRestartCount(start, logged),
      image: image.ok,
      volumes: deps.volumes.mounted(pod.uid),
      env,
      files: { ...(etcHosts !== undefined && { etcHosts }), ...(terminationLog !== undefined && { terminationLog }) },
      node,
      settings,
    });
    return isRefusal(config) ? config : { ok: config };
  };
}

/**
 * One more than the instance before; where the runtime remembers none, one more than the logs do. An instance that was
 * made but never started did not run, so its number is used again.
 */
export function computeRestartCount({ previous }: ContainerStart, logged: number | undefined): number {
  if (previous === undefined) return logged === undefined ? 0 : logged + 1;
  return previous.state === 'created' ? previous.attempt : previous.attempt + 1;
}

/** The pod's hosts file is written at each container start, because addresses and aliases can change in between. */
async function writeHosts(deps: PrepareDeps, pod: DesiredPod, podIps: readonly string[]): Promise<string | undefined> {
  const { hostNetwork, hostAliases } = pod.spec;
  if (hostNetwork === true) {
    return deps.files.writeHosts(pod.uid, hostNetworkHostsFile(await deps.files.readNodeHosts(), hostAliases));
  }
  if (podIps.length === 0) return undefined;
  const { clusterDomain, featureGates } = deps.settings;
  const names = podHostname(pod, { clusterDomain, allowOverride: featureGates('HostnameOverride') });
  return deps.files.writeHosts(pod.uid, podHostsFile(podIps, names, hostAliases));
}

async function makeTerminationLog(
  deps: PrepareDeps,
  pod: DesiredPod,
  container: Container,
): Promise<string | undefined> {
  if (container.terminationMessagePath === undefined || container.terminationMessagePath === '') return undefined;
  return deps.files.makeTerminationLog(pod.uid, container.name);
}
