import { TubeletError, remoteMessageOf, kindOf } from '../../base/errors.ts';
import type { Secret } from '../../gen/kubernetes/types.ts';
import type { ApiReader } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { VolumeObjects } from '../ports.ts';
import type { DriverSecrets } from './ports.ts';

/** Secrets that PersistentVolumes name: a node may read them one by one. They are not cached. */
export function secretsOfApi(api: Pick<ApiReader, 'get'>): DriverSecrets {
  return {
    async get(namespace, name, signal) {
      return textsOf(await api.get<Secret>(apiResources.secrets, { namespace, name }, { signal }));
    },
  };
}

/** Secrets of pods, for a node without a cluster. */
export function secretsOfObjects(objects: Pick<VolumeObjects, 'secret' | 'problem'>): DriverSecrets {
  return {
    async get(namespace, name) {
      const found = objects.secret(namespace, name);
      if (found !== undefined) return textsOf(found);
      const reason = objects.problem?.('Secret', namespace, name) ?? `secret "${name}" not found`;
      throw new TubeletError('notFound', reason);
    },
  };
}

/** In which field a volume names its secret. */
type SecretUse = 'NodeStageSecretRef' | 'NodePublishSecretRef' | 'NodeExpandSecretRef';

export interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** Empty where the volume names no secret. Rejects with upstream's message. */
export async function fetchSecrets(
  secrets: DriverSecrets,
  use: SecretUse,
  reference: SecretReference | undefined,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  if (reference === undefined) return {};
  const { namespace = '', name = '' } = reference;
  try {
    return await secrets.get(namespace, name, signal);
  } catch (error) {
    signal.throwIfAborted();
    const message = `fetching ${use} ${namespace}/${name} failed: ${remoteMessageOf(error)}`;
    throw new TubeletError(kindOf(error), message, { cause: error, remoteMessage: message });
  }
}

function textsOf({ data = {} }: Secret): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
