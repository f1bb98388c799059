import type { Container, ContainerRestartRule } from '../../gen/kubernetes/types.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface RestartInput {
  readonly container: Pick<Container, 'restartPolicy' | 'restartPolicyRules'>;
  readonly podPolicy: string | undefined;
  readonly ended: Pick<ObservedContainer, 'exitCode'>;
  /** Gate ContainerRestartRules: the container's own policy and rules count. */
  readonly ownRules: boolean;
}

/** Whether a container that ended by itself is started again. The container's own rules go before its own policy, that
 * before the pod's. */
export function computeRestart({ container, podPolicy, ended, ownRules }: RestartInput): boolean {
  if (ownRules && container.restartPolicyRules?.some((rule) => applies(rule, ended.exitCode))) return true;
  const policy = (ownRules ? container.restartPolicy : undefined) ?? podPolicy ?? 'Always';
  switch (policy as RestartPolicy) {
    case 'Never':
      return false;
    case 'OnFailure':
      return ended.exitCode !== 0;
    case 'Always':
      return true;
    default:
      // Validation lets no other word through; a word from the future means what the default does.
      return true;
  }
}

function applies({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (action !== 'Restart' || exitCodes === undefined) return false;
  const named = (exitCodes.values ?? []).includes(exitCode);
  return exitCodes.operator === 'In' ? named : exitCodes.operator === 'NotIn' && !named;
}
