import type { Container, ContainerRestartRule } from '../gen/kubernetes/types.ts';

type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface RestartInput {
  readonly container: Pick<Container, 'restartPolicy' | 'restartPolicyRules'>;
  readonly podPolicy: string | undefined;
  readonly ended: { readonly exitCode: number };
  /** Gate ContainerRestartRules: the container's own policy and rules count. */
  readonly ownRules: boolean;
}

/** The policy that holds for a container: its own where it may have one, else the pod's. */
export function restartPolicyOf({ container, podPolicy, ownRules }: Omit<RestartInput, 'ended'>): RestartPolicy {
  const policy = (ownRules ? container.restartPolicy : undefined) ?? podPolicy;
  // Validation accepts no other value; an unknown one from a newer API counts as the default.
  return policy === 'Never' || policy === 'OnFailure' ? policy : 'Always';
}

/** Whether a container that ended is restarted. Its own rules precede its own policy, which precedes the pod's. */
export function computeRestart(input: RestartInput): boolean {
  const { container, ended, ownRules } = input;
  if (ownRules && container.restartPolicyRules?.some((rule) => applies(rule, ended.exitCode))) return true;
  const policy = restartPolicyOf(input);
  return policy === 'Always' || (policy === 'OnFailure' && ended.exitCode !== 0);
}

function applies({ action, exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (action !== 'Restart' || exitCodes === undefined) return false;
  const named = (exitCodes.values ?? []).includes(exitCode);
  return exitCodes.operator === 'In' ? named : exitCodes.operator === 'NotIn' && !named;
}
