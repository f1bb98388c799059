import { TubeletError } from '../../base/errors.ts';
import { ownValue } from '../../base/own-value.ts';
import {
  LinuxSandboxSecurityContext,
  PodSandboxConfig,
  Protocol,
  SecurityProfile_ProfileType,
  SupplementalGroupsPolicy,
  type DNSConfig,
  type PortMapping,
} from '../../gen/cri/api.ts';
import type { ContainerPort, PodSpec } from '../../gen/kubernetes/types.ts';
import { cgroupPath, podCgroup } from '../../model/cgroup-names.ts';
import { allContainers } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podDns, type HostDns, type PodDns } from '../../model/dns.ts';
import { kernelHostname, podHostname } from '../../model/hostname.ts';
import { sandboxLabels } from '../../model/labels.ts';
import { overheadResources, sandboxResources } from '../../model/linux-resources.ts';
import { namespaceOptions, type UserNamespaceBlock } from '../../model/namespaces.ts';
import { podQos } from '../../model/qos.ts';
import { isRefusal, refuse, type Refusal } from '../../model/refusal.ts';
import { boundTexts, maxRuntimeAnnotationBytes, maxRuntimeLabelBytes } from '../../model/runtime-metadata.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';
import { dottedSysctl } from '../../model/sysctl-names.ts';

interface SandboxConfigInput {
  readonly pod: DesiredPod;
  readonly attempt: number;
  readonly settings: RuntimeSettings;
  readonly hostDns: HostDns;
  readonly hostIps?: readonly string[];
  readonly userNamespace?: UserNamespaceBlock;
  /** Groups that own volumes of the pod. */
  readonly extraGroups?: readonly number[];
}

/**
 * What the runtime is asked for as the pod's sandbox. Throws kind `invalid` when the pod cannot have the name or the
 * groups it asks for, `unsupported` when it asks for a user namespace and the runtime has none: the pod must not run with
 * the users of the host instead.
 */
export function computeSandboxConfig(input: SandboxConfigInput): PodSandboxConfig {
  const { pod, attempt, settings } = input;
  if (pod.spec.hostUsers === false && input.userNamespace === undefined) {
    throw new TubeletError(
      'unsupported',
      "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
    );
  }
  return PodSandboxConfig.fromPartial({
    metadata: { name: pod.name, uid: pod.uid, namespace: pod.namespace, attempt },
    hostname: pod.spec.hostNetwork === true ? '' : sandboxHostname(pod, settings),
    logDirectory: podLogDirectory(pod, settings.podLogsDir),
    dnsConfig: dnsConfig(input),
    portMappings: portMappings(pod.spec),
    labels: sandboxLabels(pod, boundTexts(pod.metadata.labels ?? {}, maxRuntimeLabelBytes).kept),
    annotations: { ...boundTexts(pod.metadata.annotations ?? {}, maxRuntimeAnnotationBytes).kept },
    linux: {
      cgroupParent: podCgroupParent(pod, settings),
      securityContext: sandboxSecurityContext(input),
      sysctls: sysctls(pod.spec),
      overhead: overheadResources(pod.spec, settings),
      resources: sandboxResources(pod.spec, settings),
    },
  });
}

/** Labels and annotations of a pod that the runtime does not get, because they are too long. */
export function computeLeftOut({ metadata }: Pick<DesiredPod, 'metadata'>): readonly string[] {
  return [
    ...boundTexts(metadata.labels ?? {}, maxRuntimeLabelBytes).leftOut,
    ...boundTexts(metadata.annotations ?? {}, maxRuntimeAnnotationBytes).leftOut,
  ];
}

function podLogDirectory(pod: Pick<DesiredPod, 'name' | 'namespace' | 'uid'>, podLogsDir: string): string {
  return `${podLogsDir.replace(/\/+$/, '')}/${pod.namespace}_${pod.name}_${pod.uid}`;
}

function sandboxHostname(pod: DesiredPod, settings: RuntimeSettings): string {
  const names = podHostname(pod, {
    clusterDomain: settings.clusterDomain,
    allowOverride: settings.featureGates('HostnameOverride'),
  });
  const kernel = kernelHostname(names, pod.spec.setHostnameAsFQDN);
  if ('problem' in kernel) throw new TubeletError('invalid', kernel.problem);
  return kernel.hostname;
}

/** How names are resolved in the pod, with the warnings that go with it. */
export function computeSandboxDns(input: Omit<SandboxConfigInput, 'attempt'>): PodDns {
  const { pod, settings, hostDns, hostIps = [] } = input;
  return podDns({
    pod,
    clusterDns: settings.clusterDns,
    clusterDomain: settings.clusterDomain,
    resolvConf: settings.resolvConf,
    hostDns,
    hostIps,
  });
}

function dnsConfig(input: SandboxConfigInput): DNSConfig {
  const { config } = computeSandboxDns(input);
  return { servers: [...config.servers], searches: [...config.searches], options: [...config.options] };
}

/** The whole path with either driver: a runtime takes the unit of systemd from its end. */
function podCgroupParent(pod: DesiredPod, settings: RuntimeSettings): string {
  if (!settings.cgroupsPerQos) return '';
  return cgroupPath(podCgroup(settings.cgroupRoot, podQos(pod), pod.uid), settings.cgroupDriver);
}

const protocols: Readonly<Record<string, Protocol>> = { TCP: Protocol.TCP, UDP: Protocol.UDP, SCTP: Protocol.SCTP };

/** Ports of the regular containers; a host port of 0 only makes the container port known. */
function portMappings(spec: PodSpec): PortMapping[] {
  return spec.containers.flatMap((container) =>
    oncePerName(container.ports ?? []).map((port) => ({
      protocol: ownValue(protocols, port.protocol ?? 'TCP') ?? Protocol.TCP,
      containerPort: port.containerPort,
      hostPort: port.hostPort ?? 0,
      hostIp: port.hostIP ?? '',
    })),
  );
}

/** A port with the name of an earlier one is not mapped again; one without a name is compared by all its fields. */
function oncePerName(ports: readonly ContainerPort[]): readonly ContainerPort[] {
  const seen = new Set<string>();
  return ports.filter(({ name, protocol, hostIP, containerPort, hostPort }) => {
    const key = name || JSON.stringify([protocol, hostIP, containerPort, hostPort]);
    return !seen.has(key) && seen.add(key);
  });
}

function sysctls(spec: PodSpec): Record<string, string> {
  const entries = (spec.securityContext?.sysctls ?? []).map(({ name, value }) => [dottedSysctl(name), value] as const);
  return Object.fromEntries(entries);
}

function sandboxSecurityContext(input: SandboxConfigInput): LinuxSandboxSecurityContext {
  const { spec } = input.pod;
  const privileged = allContainers(spec).some(({ container }) => container.securityContext?.privileged === true);
  // A user namespace is never left out, even of a pod without a security context.
  const context = spec.securityContext ?? (spec.hostUsers === false ? {} : undefined);
  const supplementalGroupsPolicy = groupsPolicy(spec);
  if (isRefusal(supplementalGroupsPolicy)) {
    throw new TubeletError('invalid', supplementalGroupsPolicy.refusal.message);
  }
  return LinuxSandboxSecurityContext.fromPartial({
    privileged,
    // The pause process needs nothing that the runtime's own profile forbids.
    seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault },
    ...(context !== undefined && {
      namespaceOptions: namespaceOptions(
        spec,
        input.userNamespace === undefined ? {} : { userNamespace: input.userNamespace },
      ),
      supplementalGroups: sandboxGroups(spec, input.extraGroups),
      supplementalGroupsPolicy,
      ...(context.runAsUser !== undefined && { runAsUser: { value: BigInt(context.runAsUser) } }),
      ...(context.runAsGroup !== undefined && { runAsGroup: { value: BigInt(context.runAsGroup) } }),
      ...(context.seLinuxOptions !== undefined && { selinuxOptions: context.seLinuxOptions }),
    }),
  });
}

/** The groups every process of the pod is in; for the sandbox those of its volumes come before the pod's own list. */
function sandboxGroups(spec: PodSpec, extraGroups: readonly number[] = []): bigint[] {
  const { fsGroup, supplementalGroups = [] } = spec.securityContext ?? {};
  return [...(fsGroup === undefined ? [] : [fsGroup]), ...extraGroups, ...supplementalGroups].map(BigInt);
}

const groupsPolicies: Readonly<Record<string, SupplementalGroupsPolicy>> = {
  Merge: SupplementalGroupsPolicy.Merge,
  Strict: SupplementalGroupsPolicy.Strict,
};

/** Whether the groups that the image gives a user count as well. An unknown value is refused: it may be stricter. */
export function groupsPolicy(spec: PodSpec): SupplementalGroupsPolicy | Refusal {
  const asked = spec.securityContext?.supplementalGroupsPolicy ?? 'Merge';
  return ownValue(groupsPolicies, asked) ?? refuse(`unsupported supplementalGroupsPolicy: ${asked}`);
}
