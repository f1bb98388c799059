import { ownValue } from '../../base/own-value.ts';
import {
  ContainerConfig,
  LinuxContainerSecurityContext,
  SecurityProfile_ProfileType,
  Signal,
  type Device,
  type Mount,
  type SecurityProfile,
} from '../../gen/cri/api.ts';
import type { Container, ContainerPort, LifecycleHandler, PodSpec } from '../../gen/kubernetes/types.ts';
import { containerHash } from '../../model/container-hash.ts';
import type { ContainerKind } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { expandVariables, TextBudget } from '../../model/expansion.ts';
import { goJson } from '../../model/go-text.ts';
import * as keys from '../../model/labels.ts';
import { containerResources, type PinnedResources } from '../../model/linux-resources.ts';
import { idMappings, namespaceOptions, type NamespaceChoices } from '../../model/namespaces.ts';
import type { PresentImage } from '../../model/present-image.ts';
import { isRefusal, refuse, type Refusal } from '../../model/refusal.ts';
import { maxRememberedBytes } from '../../model/runtime-metadata.ts';
import type { NodeFacts, RuntimeSettings } from '../../model/runtime-settings.ts';
import {
  appArmorChoice,
  effectiveSecurityContext,
  legacyAppArmor,
  procMountPaths,
  seccompChoice,
  verifyNonRoot,
  type ImageUser,
  type ProfileChoice,
} from '../../model/security-context.ts';
import { computeBlockDevices, computeMounts, wantsHostsFile } from './compute-mounts.ts';
import type { EnvVariable, MountedVolume } from './compute-mounts.ts';
import { groupsPolicy } from './compute-sandbox-config.ts';

/** What device plugins and resource drivers add to a container. */
interface DeviceAdditions {
  readonly devices?: readonly Device[];
  readonly mounts?: readonly Mount[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly cdiDevices?: readonly string[];
}

export interface ContainerConfigInput extends NamespaceChoices {
  readonly pod: DesiredPod;
  readonly container: Container;
  readonly kind: ContainerKind;
  readonly restartCount: number;
  readonly image: PresentImage;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  readonly env: readonly EnvVariable[];
  /** Host paths of the files the agent keeps for this container. */
  readonly files: { readonly etcHosts?: string; readonly terminationLog?: string };
  readonly node: NodeFacts;
  readonly settings: RuntimeSettings;
  readonly pinned?: PinnedResources;
  readonly additions?: DeviceAdditions;
  readonly extraGroups?: readonly number[];
  /** Whether the pod's runtime handler can make mounts read-only with all below them. */
  readonly recursiveReadOnly?: boolean;
}

/** What the runtime is asked for as a container, or why the pod cannot have it. */
export function computeContainerConfig(input: ContainerConfigInput): ContainerConfig | Refusal {
  const { pod, container, restartCount, image, settings, additions = {} } = input;
  const mounts = allMounts(input);
  if (isRefusal(mounts)) return mounts;
  const blockDevices = computeBlockDevices(input);
  if (isRefusal(blockDevices)) return blockDevices;
  const rootRefusal = verifyNonRoot(pod, container, image.user);
  if (rootRefusal !== undefined) return rootRefusal;
  const securityContext = containerSecurityContext(input);
  if (isRefusal(securityContext)) return securityContext;
  const values = new Map(input.env.map(({ key, value }) => [key, value]));
  const budget = new TextBudget();
  for (const { key, value } of input.env) budget.take(key.length + value.length);
  const expand = (text: string): string =>
    budget.exceeded ? '' : expandVariables(text, (name) => values.get(name), budget);
  const command = (container.command ?? []).map(expand);
  const args = (container.args ?? []).map(expand);
  if (budget.exceeded) return refuse(budget.message);
  return ContainerConfig.fromPartial({
    metadata: { name: container.name, attempt: restartCount },
    image: { image: image.ref, userSpecifiedImage: container.image ?? '' },
    command,
    args,
    workingDir: container.workingDir ?? '',
    envs: input.env.map(({ key, value, raw }) => ({ key, value: raw ?? Buffer.from(value) })),
    mounts,
    devices: [...(additions.devices ?? []), ...blockDevices],
    CDIDevices: (additions.cdiDevices ?? []).map((name) => ({ name })),
    labels: keys.containerLabels(pod, container.name),
    annotations: { ...additions.annotations, ...ownAnnotations(pod, container, restartCount) },
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    linux: {
      resources: containerResources(pod, container, input.node, settings, input.pinned),
      securityContext,
    },
    stopSignal: settings.featureGates('ContainerStopSignals') ? stopSignal(container) : Signal.RUNTIME_DEFAULT,
  });
}

/** Below the pod's log directory. */
function containerLogPath(containerName: string, restartCount: number): string {
  return `${containerName}/${restartCount}.log`;
}

function allMounts(input: ContainerConfigInput): Mount[] | Refusal {
  const { pod, container, settings, files } = input;
  const addresses = pod.spec.hostNetwork === true ? input.hostIps : input.podIps;
  const hostsFile = wantsHostsFile(container, addresses) ? files.etcHosts : undefined;
  const made = computeMounts({
    pod,
    container,
    volumes: input.volumes,
    env: input.env,
    rootDir: settings.rootDir,
    selinuxEnabled: settings.selinuxEnabled,
    recursiveReadOnly: input.recursiveReadOnly === true,
    files: {
      ...(hostsFile !== undefined && { etcHosts: hostsFile }),
      ...(files.terminationLog !== undefined && { terminationLog: files.terminationLog }),
    },
  });
  if (isRefusal(made)) return made;
  const mappings = pod.spec.hostUsers === false ? idMappings(input.userNamespace) : [];
  return [...(input.additions?.mounts ?? []), ...made].map((mount) =>
    mappings.length === 0 ? mount : { ...mount, uidMappings: mappings, gidMappings: mappings },
  );
}

/** What the agent needs to stop a container whose pod it does not know any more, and what the container was made from. */
function ownAnnotations(pod: DesiredPod, container: Container, restartCount: number): Record<string, string> {
  const { lifecycle, ports = [] } = container;
  const deletionGrace = pod.metadata.deletionGracePeriodSeconds;
  const grace = pod.spec.terminationGracePeriodSeconds;
  return {
    [keys.containerHashAnnotation]: containerHash(container),
    [keys.containerRestartCountAnnotation]: String(restartCount),
    [keys.containerTerminationMessagePathAnnotation]: container.terminationMessagePath ?? '',
    [keys.containerTerminationMessagePolicyAnnotation]: container.terminationMessagePolicy ?? '',
    ...remembered(keys.containerPreStopHandlerAnnotation, lifecycle?.preStop && orderedHandler(lifecycle.preStop)),
    ...remembered(keys.containerPortsAnnotation, ports.length > 0 ? ports.map(orderedPort) : undefined),
    ...(deletionGrace !== undefined && { [keys.podDeletionGracePeriodAnnotation]: String(deletionGrace) }),
    ...(grace !== undefined && { [keys.podTerminationGracePeriodAnnotation]: String(grace) }),
  };
}

/** Annotations come back with every list of containers, so a value that is too long is left out; then no hook runs. */
function remembered(key: string, value: unknown): Record<string, string> {
  const text = value === undefined ? undefined : goJson(value);
  return text === undefined || text.length > maxRememberedBytes ? {} : { [key]: text };
}

/** Fields in the order in which other kubelets write them, so that the annotation reads the same. */
function orderedPort({ name, hostPort, containerPort, protocol, hostIP }: ContainerPort): ContainerPort {
  return {
    ...(name && { name }),
    ...(hostPort && { hostPort }),
    containerPort,
    ...(protocol && { protocol }),
    ...(hostIP && { hostIP }),
  };
}

function orderedHandler({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): LifecycleHandler {
  return {
    ...(exec && { exec }),
    ...(httpGet && {
      httpGet: {
        ...(httpGet.path && { path: httpGet.path }),
        port: httpGet.port,
        ...(httpGet.host && { host: httpGet.host }),
        ...(httpGet.scheme && { scheme: httpGet.scheme }),
        ...(httpGet.httpHeaders?.length && {
          httpHeaders: httpGet.httpHeaders.map(({ name, value }) => ({ name, value })),
        }),
      },
    }),
    ...(tcpSocket && { tcpSocket: { port: tcpSocket.port, ...(tcpSocket.host && { host: tcpSocket.host }) } }),
    ...(sleep && { sleep }),
  };
}

function stopSignal(container: Container): Signal {
  const asked = container.lifecycle?.stopSignal ?? '';
  const signals: Readonly<Record<string, Signal | undefined>> = Signal;
  const name = asked.replaceAll(/[+-]/g, (sign) => (sign === '+' ? 'PLUS' : 'MINUS'));
  return ownValue(signals, name) ?? Signal.RUNTIME_DEFAULT;
}

function containerSecurityContext(input: ContainerConfigInput): LinuxContainerSecurityContext | Refusal {
  const { pod, container, settings, image, node } = input;
  const seccomp = seccompChoice(pod, container, {
    profileRoot: settings.seccompProfileRoot,
    defaultToRuntime: settings.seccompDefault,
  });
  if (isRefusal(seccomp)) return seccomp;
  const appArmor = appArmorChoice(pod, container);
  if (isRefusal(appArmor)) return appArmor;
  const supplementalGroupsPolicy = groupsPolicy(pod.spec);
  if (isRefusal(supplementalGroupsPolicy)) return supplementalGroupsPolicy;
  const effective = effectiveSecurityContext(pod, container);
  const paths = procMountPaths(effective.procMount, node.thermalThrottlePaths);
  return LinuxContainerSecurityContext.fromPartial({
    ...(effective.capabilities !== undefined && {
      capabilities: {
        addCapabilities: [...(effective.capabilities.add ?? [])],
        dropCapabilities: [...(effective.capabilities.drop ?? [])],
      },
    }),
    privileged: effective.privileged ?? false,
    readonlyRootfs: effective.readOnlyRootFilesystem ?? false,
    noNewPrivs: effective.allowPrivilegeEscalation === false,
    namespaceOptions: namespaceOptions(pod.spec, input),
    ...(effective.seLinuxOptions !== undefined && { selinuxOptions: effective.seLinuxOptions }),
    ...runAs(effective.runAsUser, image.user),
    ...(effective.runAsGroup !== undefined && { runAsGroup: { value: BigInt(effective.runAsGroup) } }),
    supplementalGroups: containerGroups(pod.spec, input.extraGroups),
    supplementalGroupsPolicy,
    maskedPaths: paths.masked,
    readonlyPaths: paths.readonly,
    seccomp: profile(seccomp),
    ...(appArmor !== undefined && { apparmor: profile(appArmor), apparmorProfile: legacyAppArmor(appArmor) }),
  });
}

function containerGroups(spec: PodSpec, extraGroups: readonly number[] = []): bigint[] {
  const { fsGroup, supplementalGroups = [] } = spec.securityContext ?? {};
  return [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups, ...extraGroups].map(BigInt);
}

/** The user is always set, because the runtime would read the image again and could find another one. */
function runAs(asked: number | undefined, image: ImageUser): { runAsUser?: { value: bigint }; runAsUsername?: string } {
  if (asked !== undefined) return { runAsUser: { value: BigInt(asked) } };
  if (image.uid === undefined && image.name) return { runAsUsername: image.name };
  return { runAsUser: { value: BigInt(image.uid ?? 0) } };
}

function profile(choice: ProfileChoice): SecurityProfile {
  return {
    profileType: SecurityProfile_ProfileType[choice.type],
    localhostRef: choice.type === 'Localhost' ? choice.reference : '',
  };
}
