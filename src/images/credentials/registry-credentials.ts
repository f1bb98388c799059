import type { DesiredPod } from '../../model/desired-pod.ts';
import type { CredentialProvider } from '../providers/credential-provider.ts';
import type { SecretLookup } from '../ports.ts';
import type { Credential } from './credential.ts';
import { lookup, makeKeyring, withoutRepeats } from './keyring.ts';
import type { NodeCredentials } from './node-config.ts';
import { findPullSecrets, secretKeyring } from './pull-secrets.ts';

interface RegistryCredentialsDeps {
  readonly secrets: SecretLookup;
  readonly node: Pick<NodeCredentials, 'keyring'>;
  readonly providers: readonly Pick<CredentialProvider, 'credentialsFor'>[];
}

/** The credentials of a pod for registries. */
export interface PodCredentials {
  /** Pull secrets that do not exist. */
  readonly missing: readonly string[];
  /** All credentials for a repository, in the order in which they are tried. */
  find(repository: string, signal: AbortSignal): Promise<FoundCredentials>;
}

interface FoundCredentials {
  readonly credentials: readonly Credential[];
  /** Pull secrets that exist but cannot be used. */
  readonly problems: readonly string[];
}

/** Credentials of all origins: first the pod's own secrets, then the node's files, then the plugins. */
export class RegistryCredentials {
  readonly #deps: RegistryCredentialsDeps;

  constructor(deps: RegistryCredentialsDeps) {
    this.#deps = deps;
  }

  of(pod: DesiredPod): PodCredentials {
    const { found, missing } = findPullSecrets(pod, this.#deps.secrets);
    return {
      missing,
      find: async (repository, signal) => {
        const { keyring, problems } = secretKeyring(pod.namespace, found);
        const { node, providers } = this.#deps;
        const [nodeKeyring, ...parts] = await Promise.all([
          node.keyring(),
          ...providers.map((provider) => provider.credentialsFor(pod, repository, signal)),
        ]);
        signal.throwIfAborted();
        const keyrings = [keyring, nodeKeyring, makeKeyring(parts.flat())];
        return { credentials: withoutRepeats(keyrings.flatMap((each) => lookup(each, repository))), problems };
      },
    };
  }
}
