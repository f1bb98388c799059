import type { ConfigMap, Secret } from '../../gen/kubernetes/types.ts';
import { mergedSecretData } from '../standalone-object.ts';
import { Faults, type Fault } from './faults.ts';
import { validateMetadata } from './metadata.ts';
import { configKey } from './names.ts';

/** All values of one object together; the API server refuses more. */
const maxDataBytes = 1024 * 1024;

/** Keys without which a secret of a type is of no use, by type. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};
const jsonKeys: readonly string[] = ['.dockercfg', '.dockerconfigjson'];
const basicAuthKeys: readonly string[] = ['username', 'password'];
const serviceAccountName = 'kubernetes.io/service-account.name';

/** Everything that is wrong with a config map, as the API server would find it. */
export function validateConfigMap(object: ConfigMap): readonly Fault[] {
  const { metadata = {}, data = {}, binaryData = {} } = object;
  const faults = new Faults();
  validateMetadata(metadata, ['metadata'], faults);
  for (const key of Object.keys(data)) {
    faults.check(['data', key], key, configKey);
    if (Object.hasOwn(binaryData, key)) {
      faults.invalid(['data', key], key, 'duplicate of key present in binaryData');
    }
  }
  for (const key of Object.keys(binaryData)) faults.check(['binaryData', key], key, configKey);
  const texts = Object.values(data).map((value) => Buffer.byteLength(value));
  checkSize([...texts, ...Object.values(binaryData).map(base64Bytes)], faults);
  return faults.list;
}

/** As for config maps; `stringData` is taken as it stands, so that faults lead to the line it was written on. */
export function validateSecret(object: Secret): readonly Fault[] {
  const { metadata = {}, type = '' } = object;
  const faults = new Faults();
  validateMetadata(metadata, ['metadata'], faults);
  for (const field of ['data', 'stringData'] as const) {
    for (const key of Object.keys(object[field] ?? {})) faults.check([field, key], key, configKey);
  }
  const data = mergedSecretData(object);
  checkSize(Object.values(data).map(base64Bytes), faults);
  const required = Object.hasOwn(requiredKeys, type) ? (requiredKeys[type] ?? []) : [];
  for (const key of required) {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (value === undefined || (value === '' && key === 'ssh-privatekey')) faults.required(['data', key]);
    else if (jsonKeys.includes(key) && !holdsJsonObject(value)) {
      faults.invalid(['data', key], '<secret contents redacted>', 'must be a JSON object');
    }
  }
  if (type === 'kubernetes.io/basic-auth' && !basicAuthKeys.some((key) => Object.hasOwn(data, key))) {
    for (const key of basicAuthKeys) faults.required(['data', key]);
  }
  if (type === 'kubernetes.io/service-account-token' && !metadata.annotations?.[serviceAccountName]) {
    faults.required(['metadata', 'annotations', serviceAccountName]);
  }
  return faults.list;
}

function checkSize(sizes: readonly number[], faults: Faults): void {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes <= maxDataBytes) return;
  faults.invalid(['data'], `${bytes} bytes`, `all values together must not have more than ${maxDataBytes} bytes`);
}

function base64Bytes(text: string): number {
  return Buffer.byteLength(text, 'base64');
}

function holdsJsonObject(base64: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    // Not JSON at all; the parser's own message would show the beginning of the secret.
    return false;
  }
}
