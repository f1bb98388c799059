import { ownValue } from '../../base/own-value.ts';
import { Mount, MountPropagation, type Device, type ImageSpec } from '../../gen/cri/api.ts';
import type { Container, VolumeMount } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { expandVariables, TextBudget } from '../../model/expansion.ts';
import { goQuote } from '../../model/go-text.ts';
import { isRefusal, refuse, type Refusal } from '../../model/refusal.ts';

/** A volume of the pod that is mounted on this node. */
export interface MountedVolume {
  /** Folder or file to mount; for a block volume the device. */
  readonly hostPath: string;
  readonly readOnly?: boolean;
  readonly selinuxRelabel?: boolean;
  /** The name under which the volume's paths are kept, where it is not the one in the pod. */
  readonly innerName?: string;
  /** An image volume: the runtime mounts it itself. */
  readonly image?: ImageSpec;
}

export interface EnvVariable {
  readonly key: string;
  readonly value: string;
  /** The value where it is no UTF-8 text, as that of a Secret may be. */
  readonly raw?: Buffer;
}

export interface MountsInput {
  readonly pod: Pick<DesiredPod, 'uid' | 'spec'>;
  readonly container: Container;
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  readonly env: readonly EnvVariable[];
  readonly rootDir: string;
  readonly selinuxEnabled: boolean;
  readonly recursiveReadOnly: boolean;
  /** Host paths of the files the agent keeps for this container. */
  readonly files: { readonly etcHosts?: string; readonly terminationLog?: string };
}

/** A part of a volume that must be bound to `target` before the container is made. */
export interface SubPathMount {
  readonly volumeName: string;
  readonly volumePath: string;
  readonly subPath: string;
  /** The values of variables in it, which may be secret. */
  readonly values: readonly string[];
  readonly target: string;
  readonly readOnly: boolean;
}

const hostsPath = '/etc/hosts';

const propagations: Readonly<Record<string, MountPropagation>> = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};

/** Whether the agent provides /etc/hosts: the pod has an address, and the container brings no file of its own. */
export function wantsHostsFile(container: Container, podIps: readonly string[]): boolean {
  const own = (container.volumeMounts ?? []).some((mount) => absolute(mount.mountPath) === hostsPath);
  return podIps.length > 0 && !own;
}

/** PATH_MAX of Linux. */
const maxPathLength = 4_096;

/** All mounts of a container: its volumes in their order, then the agent's own files. */
export function computeMounts(input: MountsInput): Mount[] | Refusal {
  const mounts: Mount[] = [];
  for (const [index, mount] of (input.container.volumeMounts ?? []).entries()) {
    const made = volumeMount(input, mount, index);
    if (isRefusal(made)) return made;
    mounts.push(made);
  }
  const { etcHosts, terminationLog } = input.files;
  if (etcHosts !== undefined) mounts.push(fileMount(hostsPath, etcHosts, input.selinuxEnabled));
  const path = input.container.terminationMessagePath;
  if (terminationLog !== undefined && path) {
    mounts.push(fileMount(absolute(path), terminationLog, input.selinuxEnabled));
  }
  return mounts;
}

/** The parts of volumes that have to be bound first, in the order of the container's mounts. */
export function computeSubPaths(
  input: Pick<MountsInput, 'pod' | 'container' | 'volumes' | 'env' | 'rootDir'>,
): SubPathMount[] | Refusal {
  const found: SubPathMount[] = [];
  for (const [index, mount] of (input.container.volumeMounts ?? []).entries()) {
    const volume = input.volumes.get(mount.name);
    if (volume === undefined) return missingVolume('mount', mount.name, input.container);
    const part = subPathOf(input, mount, volume, index);
    if (isRefusal(part)) return part;
    if (part !== undefined && volume.image === undefined) found.push(part);
  }
  return found;
}

/** Block volumes appear as devices. */
export function computeBlockDevices(input: Pick<MountsInput, 'container' | 'volumes'>): Device[] | Refusal {
  const devices: Device[] = [];
  for (const { name, devicePath } of input.container.volumeDevices ?? []) {
    const volume = input.volumes.get(name);
    if (volume === undefined) return missingVolume('pass', name, input.container);
    const permissions = volume.readOnly === true ? 'r' : 'mrw';
    devices.push({ hostPath: volume.hostPath, containerPath: devicePath, permissions });
  }
  return devices;
}

function volumeMount(input: MountsInput, mount: VolumeMount, index: number): Mount | Refusal {
  const volume = input.volumes.get(mount.name);
  if (volume === undefined) return missingVolume('mount', mount.name, input.container);
  const part = subPathOf(input, mount, volume, index);
  if (isRefusal(part)) return part;
  const propagation = ownValue(propagations, mount.mountPropagation ?? 'None');
  if (propagation === undefined) {
    return refuse(`invalid MountPropagation mode: ${goQuote(mount.mountPropagation ?? '')}`);
  }
  const recursive = recursiveReadOnly(mount, input.recursiveReadOnly);
  if (isRefusal(recursive)) return recursive;
  const shared = {
    containerPath: absolute(mount.mountPath),
    readonly: mount.readOnly === true || volume.readOnly === true,
    propagation,
    recursiveReadOnly: recursive,
  };
  if (volume.image !== undefined) {
    return Mount.fromPartial({ ...shared, readonly: true, image: volume.image, imageSubPath: part?.subPath ?? '' });
  }
  return Mount.fromPartial({
    ...shared,
    hostPath: part?.target ?? volume.hostPath,
    selinuxRelabel: input.selinuxEnabled && volume.selinuxRelabel === true,
  });
}

function subPathOf(
  input: Pick<MountsInput, 'pod' | 'container' | 'env' | 'rootDir'>,
  mount: VolumeMount,
  volume: MountedVolume,
  index: number,
): SubPathMount | Refusal | undefined {
  const expanded = mount.subPathExpr
    ? expandSubPath(mount.subPathExpr, input.env)
    : { path: mount.subPath ?? '', values: [] };
  if (isRefusal(expanded)) return expanded;
  const { path: subPath, values } = expanded;
  if (subPath === '') return undefined;
  // The values of variables may be secret, so a message shows the expression.
  const shown = mount.subPathExpr || subPath;
  if (subPath.startsWith('/')) return refuse(`error SubPath \`${shown}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) {
    return refuse(`unable to provision SubPath \`${shown}\`: must not contain '..'`);
  }
  const volumeName = volume.innerName ?? mount.name;
  return {
    volumeName,
    volumePath: volume.hostPath,
    subPath,
    values,
    target: `${input.rootDir}/pods/${input.pod.uid}/volume-subpaths/${volumeName}/${input.container.name}/${index}`,
    readOnly: mount.readOnly === true || volume.readOnly === true,
  };
}

interface ExpandedPath {
  readonly path: string;
  readonly values: readonly string[];
}

/** A path must not silently become another one, so unlike in commands every variable needs a value here. */
function expandSubPath(expression: string, env: readonly EnvVariable[]): ExpandedPath | Refusal {
  const known = valuesOf(env);
  const values = new Set<string>();
  const missing = new Set<string>();
  const budget = new TextBudget(maxPathLength);
  const lookup = (name: string): string | undefined => {
    const value = known.get(name);
    if (value) values.add(value);
    else missing.add(name);
    return value;
  };
  const path = expandVariables(expression, lookup, budget);
  if (budget.exceeded) {
    return refuse(`a subPathExpr becomes longer than ${maxPathLength} characters, which no path can be`);
  }
  return missing.size === 0
    ? { path, values: [...values] }
    : refuse(`missing value for ${[...missing].sort().join(', ')}`);
}

/** One index for all mounts of a container: there may be thousands of both. */
const indexes = new WeakMap<readonly EnvVariable[], ReadonlyMap<string, string>>();

function valuesOf(env: readonly EnvVariable[]): ReadonlyMap<string, string> {
  const known = indexes.get(env);
  if (known !== undefined) return known;
  const made = new Map(env.map(({ key, value }) => [key, value]));
  indexes.set(env, made);
  return made;
}

function recursiveReadOnly(mount: VolumeMount, supported: boolean): boolean | Refusal {
  const mode = mount.recursiveReadOnly ?? 'Disabled';
  if (mode === 'Disabled') return false;
  const unresolved = (problem: string): Refusal =>
    refuse(
      `failed to resolve recursive read-only mode: volume "${mount.name}" requested recursive read-only mode, but ${problem}`,
    );
  if (mount.readOnly !== true) return unresolved('it is not read-only');
  if ((mount.mountPropagation ?? 'None') !== 'None') {
    return unresolved(`it is not compatible with propagation "${mount.mountPropagation ?? ''}"`);
  }
  // Any mode but IfPossible requires that the mount is read-only with all below it.
  if (mode !== 'IfPossible' && !supported) return unresolved('it is not supported by the runtime');
  return supported;
}

function missingVolume(verb: 'mount' | 'pass', volume: string, container: Container): Refusal {
  return refuse(`cannot find volume "${volume}" to ${verb} into container "${container.name}"`);
}

function fileMount(containerPath: string, hostPath: string, selinuxRelabel: boolean): Mount {
  return Mount.fromPartial({ containerPath, hostPath, selinuxRelabel });
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
