import { messageOf } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { ContainerConfig, PodSandboxConfig } from '../../gen/cri/api.ts';
import type { Container, EphemeralContainer } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podHostname } from '../../model/hostname.ts';
import { hostNetworkHostsFile, podHostsFile } from '../../model/hosts-file.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';
import { isRefusal, refuse, type Refusal, type Refusable } from '../../model/refusal.ts';
import type { NodeFacts, RuntimeSettings } from '../../model/runtime-settings.ts';
import { verifyNonRoot } from '../../model/security-context.ts';
import { computeContainerConfig } from './compute-container-config.ts';
import { computeContainerEnv, type EnvLookup } from './compute-container-env.ts';
import { computeMounts, computeSubPaths } from './compute-mounts.ts';
import type { ContainerStart } from './pod-actions.ts';
import type { ContainerFiles, Images, SubPaths, Volumes } from './ports.ts';
import { unavailableDevices } from './unavailable-devices.ts';

export interface PrepareDeps {
  readonly images: Images;
  readonly volumes: Volumes;
  readonly subPaths: SubPaths;
  readonly files: ContainerFiles;
  readonly lookup: EnvLookup;
  readonly settings: RuntimeSettings;
  readonly node: NodeFacts;
  readonly hostIps: () => readonly string[];
  /** Whether the pod's runtime handler can make mounts read-only with all below them. */
  readonly recursiveReadOnly: (pod: DesiredPod) => boolean;
}

interface PrepareInput {
  readonly pod: DesiredPod;
  readonly start: ContainerStart;
  readonly podIps: readonly string[];
  readonly fieldPath: string;
  readonly sandboxConfig?: PodSandboxConfig;
  /** The newest instance of a container of the pod, by name. */
  readonly newest?: (name: string) => ContainerId | undefined;
}

export type PrepareContainer = (input: PrepareInput, signal: AbortSignal) => Promise<Refusable<ContainerConfig>>;

/** Gathers what a container needs before it can be made: image, environment, files, and the request for the runtime. */
export function prepareContainer(deps: PrepareDeps): PrepareContainer {
  return async ({ pod, start, podIps, fieldPath, sandboxConfig, newest }, signal) => {
    const { container, kind } = start;
    const unavailable = unavailableDevices(container, deps.node.allocatable);
    if (unavailable !== undefined) return unavailable;
    const image = await deps.images.ensure(pod, container, fieldPath, signal, {
      ...(sandboxConfig && { sandboxConfig }),
    });
    if ('refusal' in image) return image;
    const target = targetOf(container, newest);
    if (isRefusal(target)) return target;

    const { settings, node } = deps;
    const hostIps = deps.hostIps();
    const common = { pod, container, podIps: pod.spec.hostNetwork === true ? hostIps : podIps, hostIps };
    const env = computeContainerEnv({ ...common, nodeName: settings.nodeName, node, lookup: deps.lookup });
    if (isRefusal(env)) return env;
    // A mount that is impossible is refused before any file is made, because each later try would make the file again.
    const volumes = deps.volumes.mounted(pod.uid);
    const recursiveReadOnly = deps.recursiveReadOnly(pod);
    const { rootDir, selinuxEnabled } = settings;
    const wanted = { pod, container, volumes, env, rootDir };
    const mounts = computeMounts({ ...wanted, selinuxEnabled, recursiveReadOnly, files: {} });
    const refusal = isRefusal(mounts) ? mounts : await bindSubPaths(deps, wanted);
    if (refusal !== undefined) return refusal;
    const etcHosts = await writeHosts(deps, pod, podIps);
    const wantsTerminationLog = (container.terminationMessagePath ?? '') !== '';
    if (wantsTerminationLog) await deps.files.makeContainerFolder(pod.uid, container.name);
    // Refused before the termination log is made, because each later try would leave one behind.
    const rootRefusal = verifyNonRoot(pod, container, image.ok.user);
    if (rootRefusal !== undefined) return rootRefusal;

    const [logged, terminationLog] = await Promise.all([
      deps.files.prepareLogs(pod, container.name),
      wantsTerminationLog ? deps.files.makeTerminationLog(pod.uid, container.name) : undefined,
    ]);
    const config = computeContainerConfig({
      ...common,
      kind,
      restartCount: computeRestartCount(start, logged),
      image: image.ok,
      volumes,
      extraGroups: deps.volumes.extraGroups(pod),
      env,
      files: { ...(etcHosts !== undefined && { etcHosts }), ...(terminationLog !== undefined && { terminationLog }) },
      node,
      settings,
      ...(target !== undefined && { targetContainerId: target }),
      recursiveReadOnly,
      ...userNamespaceOf(sandboxConfig),
    });
    return isRefusal(config) ? config : { ok: config };
  };
}

async function bindSubPaths(
  { subPaths }: PrepareDeps,
  input: Parameters<typeof computeSubPaths>[0],
): Promise<Refusal | undefined> {
  const parts = computeSubPaths(input);
  if (isRefusal(parts)) return parts;
  const container = input.container.name;
  for (const { volumeName: mountName, volumePath, subPath, values, target } of parts) {
    try {
      await subPaths.bind(input.pod.uid, { mountName, container, volumePath, subPath, values, target });
    } catch (error) {
      return refuse(messageOf(error));
    }
  }
  return undefined;
}

/** The instance whose processes an ephemeral container wants to see. */
function targetOf(
  container: Container | EphemeralContainer,
  newest: PrepareInput['newest'],
): ContainerId | Refusal | undefined {
  const name = 'targetContainerName' in container ? (container.targetContainerName ?? '') : '';
  if (name === '') return undefined;
  return newest?.(name) ?? refuse(`unable to find target container ${name}`);
}

/** A container has the user namespace of its sandbox. */
function userNamespaceOf(sandbox: PodSandboxConfig | undefined): { readonly userNamespace?: UserNamespaceBlock } {
  const [mapping] = sandbox?.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids ?? [];
  return mapping === undefined ? {} : { userNamespace: { hostId: mapping.hostId, length: mapping.length } };
}

/**
 * One more than that of the instance before; where the runtime has none, one more than the newest log's. An instance that
 * was created but never started did not run, so its number is used again.
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
