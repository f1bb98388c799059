import { posix } from 'node:path';
import type { AppArmorProfile, Container, SeccompProfile, SecurityContext } from '../gen/kubernetes/types.ts';
import { describePod } from './containers.ts';
import type { DesiredPod } from './desired-pod.ts';
import { goQuote } from './go-text.ts';
import { appArmorAnnotationPrefix } from './labels.ts';
import { refuse, type Refusal } from './refusal.ts';

/** The default user of an image: a number, a name, or neither, which is root. */
export interface ImageUser {
  readonly uid?: number;
  readonly name?: string;
}

/** The security context of a pod, overridden by that of a container. */
export function effectiveSecurityContext(pod: Pick<DesiredPod, 'spec'>, container: Container): SecurityContext {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = pod.spec.securityContext ?? {};
  return {
    ...(runAsUser !== undefined && { runAsUser }),
    ...(runAsGroup !== undefined && { runAsGroup }),
    ...(runAsNonRoot !== undefined && { runAsNonRoot }),
    ...(seLinuxOptions !== undefined && { seLinuxOptions }),
    ...container.securityContext,
  };
}

/** Whether a container with `runAsNonRoot` would run as root; the runtime does not check this. */
export function verifyNonRoot(pod: DesiredPod, container: Container, image: ImageUser): Refusal | undefined {
  const { runAsNonRoot, runAsUser } = effectiveSecurityContext(pod, container);
  if (runAsNonRoot !== true) return undefined;
  const where = `(pod: "${describePod(pod)}", container: ${container.name})`;
  if (runAsUser !== undefined) {
    return runAsUser === 0 ? refuse(`container's runAsUser breaks non-root policy ${where}`) : undefined;
  }
  if (image.uid === undefined && image.name) {
    return refuse(
      `container has runAsNonRoot and image has non-numeric user (${image.name}), cannot verify user is ` +
        `non-root ${where}`,
    );
  }
  return (image.uid ?? 0) === 0 ? refuse(`container has runAsNonRoot and image will run as root ${where}`) : undefined;
}

/** A seccomp or AppArmor profile, by its kind of source. */
export type ProfileChoice =
  | { readonly type: 'RuntimeDefault' }
  | { readonly type: 'Unconfined' }
  | { readonly type: 'Localhost'; readonly reference: string };

export function seccompChoice(
  pod: Pick<DesiredPod, 'spec'>,
  container: Container,
  options: { readonly profileRoot: string; readonly defaultToRuntime: boolean },
): ProfileChoice | Refusal {
  const asked: SeccompProfile | undefined =
    container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile;
  if (asked === undefined) return { type: options.defaultToRuntime ? 'RuntimeDefault' : 'Unconfined' };
  if (asked.type === 'RuntimeDefault' || asked.type === 'Unconfined') return { type: asked.type };
  // A value that this agent does not know may be meant to be strict: it must not become the weakest there is.
  if (asked.type !== 'Localhost') return refuse(`unknown seccomp profile type: ${goQuote(asked.type)}`);
  return asked.localhostProfile
    ? { type: 'Localhost', reference: posix.join(options.profileRoot, asked.localhostProfile) }
    : refuse('localhostProfile must be set if seccompProfile type is Localhost.');
}

/** Static pods may still use the annotation that came before the field, so it counts before the pod's own field. */
export function appArmorChoice(
  pod: Pick<DesiredPod, 'spec' | 'metadata'>,
  container: Container,
): ProfileChoice | Refusal | undefined {
  const annotation = pod.metadata.annotations?.[`${appArmorAnnotationPrefix}${container.name}`];
  const asked: AppArmorProfile | undefined =
    container.securityContext?.appArmorProfile ??
    (annotation ? fromAnnotation(annotation) : pod.spec.securityContext?.appArmorProfile);
  if (asked === undefined) return undefined;
  if (asked.type === 'RuntimeDefault' || asked.type === 'Unconfined') return { type: asked.type };
  if (asked.type !== 'Localhost') return refuse(`unknown apparmor profile type: ${goQuote(asked.type)}`);
  return asked.localhostProfile
    ? { type: 'Localhost', reference: asked.localhostProfile }
    : refuse('missing localhost apparmor profile name');
}

/** The profile in the notation that older runtimes read. */
export function legacyAppArmor(choice: ProfileChoice): string {
  if (choice.type === 'Localhost') return `localhost/${choice.reference}`;
  return choice.type === 'Unconfined' ? 'unconfined' : 'runtime/default';
}

/** An unknown value is returned as it is, for the caller to reject. */
function fromAnnotation(value: string): AppArmorProfile {
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  return value.startsWith('localhost/')
    ? { type: 'Localhost', localhostProfile: value.slice('localhost/'.length) }
    : { type: value };
}

const maskedByDefault = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
] as const;
const readonlyByDefault = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'] as const;

/** Which parts of /proc and /sys a container does not see or may not change. */
export function procMountPaths(
  procMount: string | undefined,
  hostMasked: readonly string[],
): { readonly masked: string[]; readonly readonly: string[] } {
  if (procMount === 'Unmasked') return { masked: [], readonly: [] };
  return { masked: [...maskedByDefault, ...hostMasked], readonly: [...readonlyByDefault] };
}
