/** What the pull policy requires, given what is on the node. */
type PullDecision = 'use' | 'pull' | 'refuse';

export function computePull(policy: string | undefined, present: boolean): PullDecision {
  if (policy === 'Always') return 'pull';
  if (present) return 'use';
  return policy === 'Never' ? 'refuse' : 'pull';
}
