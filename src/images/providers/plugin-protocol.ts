import { TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import type { RegistryEntry } from '../credentials/docker-config.ts';
import { registryKey } from '../credentials/registry-match.ts';
import { durationMs } from './provider-config.ts';

export interface PluginRequest {
  /** The repository, without tag and digest. */
  readonly image: string;
  readonly account?: {
    readonly token: Masked<string>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

/** What an answer may be used for besides the image it was given for. */
export type CacheScope = 'Image' | 'Registry' | 'Global';

interface PluginResponse {
  readonly scope: CacheScope;
  /** Undefined leaves it to the configuration; 0 means not at all. */
  readonly cacheMs: number | undefined;
  readonly entries: readonly RegistryEntry[];
}

/** One line of JSON for the plugin's standard input. */
export function encodeRequest(apiVersion: string, { image, account }: PluginRequest): Masked<string> {
  const request = {
    kind: 'CredentialProviderRequest',
    apiVersion,
    image,
    ...(account !== undefined && {
      serviceAccountToken: account.token.reveal(),
      ...(Object.keys(account.annotations).length > 0 && { serviceAccountAnnotations: account.annotations }),
    }),
  };
  return new Masked(`${JSON.stringify(request)}\n`);
}

/** Reads an answer. It holds passwords, so an error names the field that is wrong and nothing of its value. */
export function decodeResponse(apiVersion: string, text: string): PluginResponse {
  const response = mapping(parse(text), 'it');
  if (response['apiVersion'] !== apiVersion) throw wrong(`its apiVersion is not ${apiVersion}`);
  if (response['kind'] !== 'CredentialProviderResponse') throw wrong('its kind is not CredentialProviderResponse');
  const { cacheKeyType: scope, cacheDuration } = response;
  if (scope !== 'Image' && scope !== 'Registry' && scope !== 'Global') {
    throw wrong('its cacheKeyType is none of Image, Registry, Global');
  }
  const auth = mapping(response['auth'] ?? {}, 'its auth');
  return { scope, cacheMs: readDuration(cacheDuration), entries: Object.entries(auth).map(readEntry) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('it is not valid JSON');
  }
}

function readDuration(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const milliseconds = typeof value === 'string' ? durationMs(value) : undefined;
  if (milliseconds === undefined) throw wrong('its cacheDuration is no duration such as 10m');
  return milliseconds;
}

function readEntry([location, value]: readonly [string, unknown]): RegistryEntry {
  const registry = registryKey(location);
  if (registry === undefined) throw wrong('its auth has an entry for what is no registry');
  const { username = '', password = '' } = mapping(value, `its auth for ${registry}`);
  if (typeof username !== 'string' || typeof password !== 'string') {
    throw wrong(`its auth for ${registry} has a username or password that is not text`);
  }
  return { registry, auth: new Masked({ username, password }) };
}

function mapping(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${what} is not a JSON object`);
  return value as Readonly<Record<string, unknown>>;
}

function wrong(what: string): TubeletError {
  return new TubeletError('invalid', `the plugin's answer cannot be used: ${what}`);
}
