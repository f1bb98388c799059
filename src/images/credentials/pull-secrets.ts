import { ownValue } from '../../base/own-value.ts';
import type { Secret } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { SecretLookup } from '../ports.ts';
import { parseDockerConfig, type DockerConfigFormat } from './docker-config.ts';
import { makeKeyring, type Keyring, type KeyringPart } from './keyring.ts';

interface NamedSecret {
  readonly name: string;
  readonly secret: Pick<Secret, 'type' | 'data' | 'metadata'>;
}

/** The secrets that a pod wants its images to be pulled with. */
interface PullSecrets {
  readonly found: readonly NamedSecret[];
  readonly missing: readonly string[];
}

export function findPullSecrets(pod: DesiredPod, lookup: SecretLookup): PullSecrets {
  const found: NamedSecret[] = [];
  const missing: string[] = [];
  for (const { name = '' } of pod.spec.imagePullSecrets ?? []) {
    // Old API servers let entries without a name pass; those are skipped silently.
    if (name === '') continue;
    const secret = lookup.secret(pod.namespace, name);
    if (secret === undefined) missing.push(name);
    else found.push({ name, secret });
  }
  return { found, missing };
}

/** Types of secrets that hold docker configurations, with the key of the value. Secrets of other types hold none. */
const formats: Readonly<Record<string, { readonly key: string; readonly format: DockerConfigFormat }>> = {
  'kubernetes.io/dockerconfigjson': { key: '.dockerconfigjson', format: 'json' },
  'kubernetes.io/dockercfg': { key: '.dockercfg', format: 'legacy' },
};

interface SecretKeyring {
  readonly keyring: Keyring;
  /** What could not be used, each with the secret's name and without any value. */
  readonly problems: readonly string[];
}

export function secretKeyring(namespace: string, secrets: readonly NamedSecret[]): SecretKeyring {
  const parts: KeyringPart[] = [];
  const problems: string[] = [];
  for (const { name, secret } of secrets) {
    const kind = ownValue(formats, secret.type);
    const value = kind === undefined ? undefined : ownValue(secret.data, kind.key);
    if (kind === undefined || value === undefined || value === '') continue;
    const config = parseDockerConfig(Buffer.from(value, 'base64').toString('utf8'), kind.format);
    if ('invalid' in config) {
      problems.push(`${name}: ${config.invalid}`);
      continue;
    }
    problems.push(...config.problems.map((problem) => `${name}: ${problem}`));
    const uid = secret.metadata?.uid ?? '';
    parts.push({ entries: config.entries, source: { kind: 'secret', uid, namespace, name } });
  }
  return { keyring: makeKeyring(parts), problems };
}
