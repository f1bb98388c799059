import { makeCredential, type Credential, type CredentialSource } from './credential.ts';
import type { RegistryEntry } from './docker-config.ts';
import { isDefaultRegistry, matchesImage } from './registry-match.ts';

/** Where docker itself puts the credentials of the default registry. */
const defaultRegistry = 'index.docker.io';

/** Entries with where they came from, in the order in which they were found. */
export interface KeyringPart {
  readonly entries: readonly RegistryEntry[];
  readonly source: CredentialSource;
}

/** Credentials by registry key. */
export type Keyring = ReadonlyMap<string, readonly Credential[]>;

export const emptyKeyring: Keyring = new Map();

export function makeKeyring(parts: readonly KeyringPart[]): Keyring {
  const keyring = new Map<string, Credential[]>();
  for (const { entries, source } of parts) {
    for (const { registry, auth } of entries) {
      const known = keyring.get(registry) ?? [];
      known.push(makeCredential(auth, source));
      keyring.set(registry, known);
    }
  }
  return keyring;
}

/**
 * All credentials for a repository, the most specific registry key first. Several can be valid while passwords are being
 * changed, so a pull tries each.
 */
export function lookup(keyring: Keyring, repository: string): readonly Credential[] {
  // In reverse order a longer path comes before the path it begins with, and a name before a wildcard.
  const places = [...keyring.keys()].filter((place) => matchesImage(place, repository)).sort(reversed);
  const found = places.flatMap((place) => keyring.get(place) ?? []);
  if (found.length > 0) return found;
  return isDefaultRegistry(repository) ? (keyring.get(defaultRegistry) ?? []) : [];
}

/** Each credential once, at its first position. */
export function withoutRepeats(credentials: readonly Credential[]): readonly Credential[] {
  const seen = new Set<string>();
  return credentials.filter(({ hash }) => {
    const key = hash.reveal();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function reversed(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? 1 : -1;
}
