import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { descendingPath, sysctlName, userId } from './names.ts';

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const maxPathLength = 4095;

/** The settings of the whole pod. */
export function validatePodSecurity(spec: PodSpec, path: FieldPath, faults: Faults): void {
  const context: PodSecurityContext = spec.securityContext ?? {};
  const at = [...path, 'securityContext'];
  checkId([...at, 'fsGroup'], context.fsGroup, faults);
  checkId([...at, 'runAsUser'], context.runAsUser, faults);
  checkId([...at, 'runAsGroup'], context.runAsGroup, faults);
  context.supplementalGroups?.forEach((group, index) => checkId([...at, 'supplementalGroups', index], group, faults));
  faults.optionalOneOf([...at, 'fsGroupChangePolicy'], context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
  faults.optionalOneOf([...at, 'supplementalGroupsPolicy'], context.supplementalGroupsPolicy, ['Merge', 'Strict']);
  faults.optionalOneOf([...at, 'seLinuxChangePolicy'], context.seLinuxChangePolicy, ['MountOption', 'Recursive']);
  validateSeccomp(context.seccompProfile, [...at, 'seccompProfile'], faults);
  validateAppArmor(context.appArmorProfile, [...at, 'appArmorProfile'], faults);
  validateSysctls(context, [...at, 'sysctls'], faults);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    faults.invalid([...path, 'shareProcessNamespace'], true, 'cannot be combined with hostPID');
  }
  validateHostUsers(spec, path, faults);
  if (spec.os?.name === 'linux' && context.windowsOptions !== undefined) {
    faults.forbidden([...at, 'windowsOptions'], 'may not be set for a linux pod');
  }
}

/** A pod with users of its own cannot share namespaces of the host, in which those users mean nothing. */
function validateHostUsers(spec: PodSpec, path: FieldPath, faults: Faults): void {
  if (spec.hostUsers !== false) return;
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[field] === true) faults.forbidden([...path, field], 'may not be true when `hostUsers` is false');
  }
  for (const kind of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[kind] ?? []).entries()) {
      if ((container.volumeDevices ?? []).length > 0) {
        faults.forbidden([...path, kind, index, 'volumeDevices'], 'may not be set when `hostUsers` is false');
      }
    }
  }
}

function validateSysctls(context: PodSecurityContext, path: FieldPath, faults: Faults): void {
  const names = new Set<string>();
  for (const [index, sysctl] of (context.sysctls ?? []).entries()) {
    const at = [...path, index, 'name'];
    if (sysctl.name === '') faults.required(at);
    else if (names.has(sysctl.name)) faults.duplicate(at, sysctl.name);
    else faults.check(at, sysctl.name, sysctlName);
    names.add(sysctl.name);
  }
}

/** The settings of one container; `hostUsers`: it shares the users of the host. */
export function validateContainerSecurity(
  context: SecurityContext | undefined,
  hostUsers: boolean,
  path: FieldPath,
  faults: Faults,
): void {
  if (context === undefined) return;
  checkId([...path, 'runAsUser'], context.runAsUser, faults);
  checkId([...path, 'runAsGroup'], context.runAsGroup, faults);
  faults.optionalOneOf([...path, 'procMount'], context.procMount, ['Default', 'Unmasked']);
  if (context.procMount === 'Unmasked' && hostUsers) {
    faults.invalid([...path, 'procMount'], context.procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  validateSeccomp(context.seccompProfile, [...path, 'seccompProfile'], faults);
  validateAppArmor(context.appArmorProfile, [...path, 'appArmorProfile'], faults);
  if (context.allowPrivilegeEscalation !== false) return;
  const at = [...path, 'allowPrivilegeEscalation'];
  if (context.privileged === true) faults.invalid(at, false, 'cannot be false while `privileged` is true');
  if ((context.capabilities?.add ?? []).includes('CAP_SYS_ADMIN')) {
    faults.invalid(at, false, 'cannot be false while the capability CAP_SYS_ADMIN is added');
  }
}

function validateSeccomp(profile: SeccompProfile | undefined, path: FieldPath, faults: Faults): void {
  if (profile === undefined) return;
  faults.oneOf([...path, 'type'], profile.type, profileTypes);
  const at = [...path, 'localhostProfile'];
  const { localhostProfile } = profile;
  if (profile.type === 'Localhost') {
    if (localhostProfile === undefined) faults.required(at, 'must be set when seccomp type is Localhost');
    else faults.check(at, localhostProfile, descendingPath);
  } else if (localhostProfile !== undefined) {
    faults.invalid(at, localhostProfile, 'can only be set when seccomp type is Localhost');
  }
}

function validateAppArmor(profile: AppArmorProfile | undefined, path: FieldPath, faults: Faults): void {
  if (profile === undefined) return;
  faults.oneOf([...path, 'type'], profile.type, profileTypes);
  const at = [...path, 'localhostProfile'];
  const { localhostProfile } = profile;
  if (profile.type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      faults.invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost');
    }
  } else if (!localhostProfile?.trim()) faults.required(at, 'must be set when AppArmor type is Localhost');
  else if (localhostProfile !== localhostProfile.trim()) {
    faults.invalid(at, localhostProfile, 'must not be padded with whitespace');
  } else if (localhostProfile.length > maxPathLength) {
    faults.invalid(at, localhostProfile, `must be no more than ${maxPathLength} characters`);
  }
}

function checkId(path: FieldPath, value: number | undefined, faults: Faults): void {
  if (value === undefined) return;
  const wrong = userId(value);
  if (wrong !== undefined) faults.invalid(path, value, wrong);
}
