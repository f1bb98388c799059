import { Masked } from '../../base/masked.ts';
import type { RegistryAuth } from './credential.ts';
import { registryKey } from './registry-match.ts';

/** Credentials for one registry, of docker configurations and credential providers. */
export interface RegistryEntry {
  /** Host and path, see `registryKey`. */
  readonly registry: string;
  readonly auth: Masked<RegistryAuth>;
}

/**
 * The entries of a configuration. A bad entry costs only itself. Problems name its registry but never its values, because
 * they go into logs and events.
 */
export interface DockerConfig {
  readonly entries: readonly RegistryEntry[];
  readonly problems: readonly string[];
}

/** `config.json` has its entries below `auths`, the older `.dockercfg` has only entries. */
export type DockerConfigFormat = 'json' | 'legacy';

/** A text that cannot be parsed is `invalid`, without entries. */
export function parseDockerConfig(
  text: string,
  format: DockerConfigFormat,
): DockerConfig | { readonly invalid: string } {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    return { invalid: `not valid JSON${placeOf(error)}` };
  }
  if (!isMapping(root)) return { invalid: 'not a JSON object' };
  const auths = format === 'json' ? (root['auths'] ?? {}) : root;
  if (!isMapping(auths)) return { invalid: '"auths" is not a JSON object' };
  const entries: RegistryEntry[] = [];
  const problems: string[] = [];
  for (const [location, value] of Object.entries(auths)) {
    const registry = registryKey(location);
    if (registry === undefined) {
      problems.push('an entry whose name is no registry is left out');
      continue;
    }
    const auth = authOf(value);
    if ('invalid' in auth) problems.push(`the entry for ${registry} is left out: ${auth.invalid}`);
    else entries.push({ registry, auth: new Masked(auth) });
  }
  return { entries, problems };
}

/** A parser's own message quotes the text around the position, so only the position is taken from it. */
function placeOf(error: unknown): string {
  const position = error instanceof Error ? /\bposition (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at character ${position})`;
}

function authOf(value: unknown): RegistryAuth | { readonly invalid: string } {
  if (!isMapping(value)) return { invalid: 'it is not a JSON object' };
  const { username = '', password = '', email = '', auth = '' } = value;
  for (const [name, text] of Object.entries({ username, password, email, auth })) {
    if (typeof text !== 'string') return { invalid: `"${name}" is not text` };
  }
  const more = email === '' ? {} : { email: email as string };
  if (auth === '') return { username: username as string, password: password as string, ...more };
  const decoded = decodeAuth(auth as string);
  if (decoded === undefined) return { invalid: '"auth" must be base64 of username:password' };
  return { ...decoded, ...more };
}

function decodeAuth(text: string): { readonly username: string; readonly password: string } | undefined {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.replace(/=+$/, '').length % 4 === 1) return undefined;
  const decoded = Buffer.from(compact, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
