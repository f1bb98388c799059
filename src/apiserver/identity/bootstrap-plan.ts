/** What was found at --kubeconfig. */
export type KubeconfigFinding =
  | { readonly kind: 'missing' }
  /** It exists and cannot be read as a kubeconfig. */
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'certificate'; readonly notAfter: number }
  /** It names a certificate that is missing or cannot be used. */
  | { readonly kind: 'badCertificate'; readonly why: string }
  /** A token, a password or a credential plugin. */
  | { readonly kind: 'otherCredentials' }
  | { readonly kind: 'anonymous' };

interface BootstrapFindings {
  readonly now: number;
  readonly kubeconfig: KubeconfigFinding;
  /** Whether --bootstrap-kubeconfig was given. */
  readonly canBootstrap: boolean;
  /** `kubelet-client-current.pem`, if it is of this node. */
  readonly stored: { readonly notAfter: number } | undefined;
}

/**
 *   keep       use the kubeconfig as it is
 *   finish     a certificate exists, but the kubeconfig does not refer to it: an earlier start was interrupted
 *   request    ask for a certificate with the bootstrap credentials
 *   fail       an operator has to help
 */
interface BootstrapPlan {
  readonly act: 'keep' | 'finish' | 'request' | 'fail';
  readonly why: string;
}

/** Whether the node must first get an identity. */
export function planBootstrap({ now, kubeconfig, canBootstrap, stored }: BootstrapFindings): BootstrapPlan {
  const trouble = troubleOf(kubeconfig, now);
  if (trouble === undefined) return { act: 'keep', why: 'the kubeconfig has credentials' };
  if (canBootstrap) return { act: stored !== undefined && now < stored.notAfter ? 'finish' : 'request', why: trouble };
  // Running pods need no API server: an expired certificate is reported, but does not stop the agent.
  const isUsable = kubeconfig.kind === 'certificate' || kubeconfig.kind === 'anonymous';
  return { act: isUsable ? 'keep' : 'fail', why: trouble };
}

function troubleOf(found: KubeconfigFinding, now: number): string | undefined {
  switch (found.kind) {
    case 'missing':
      return 'there is no kubeconfig';
    case 'broken':
      return `the kubeconfig cannot be used: ${found.why}`;
    case 'badCertificate':
      return `the client certificate of the kubeconfig cannot be used: ${found.why}`;
    case 'anonymous':
      return 'the kubeconfig has no credentials';
    case 'certificate':
      return now < found.notAfter
        ? undefined
        : `the client certificate of the kubeconfig expired at ${new Date(found.notAfter).toISOString()}`;
    case 'otherCredentials':
  }
  return undefined;
}
