import type { ConfigMap, ObjectMeta, Secret } from '../gen/kubernetes/types.ts';

export type DataObjectKind = 'ConfigMap' | 'Secret';

/** Which ConfigMap or Secret is meant. */
export interface DataObjectReference {
  readonly kind: DataObjectKind;
  readonly namespace: string;
  readonly name: string;
}

/** A ConfigMap or Secret that a node without an API server got as a manifest, and the place where it stands. */
export type StandaloneObject = DataObjectReference & {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
} & ({ readonly kind: 'ConfigMap'; readonly object: ConfigMap } | { readonly kind: 'Secret'; readonly object: Secret });

/** Equal for references to the same object, and only for those. */
export function objectKey({ kind, namespace, name }: DataObjectReference): string {
  return `${kind} ${namespace}/${name}`;
}

export function completeConfigMap(object: ConfigMap): ConfigMap {
  return { ...object, kind: 'ConfigMap', apiVersion: 'v1', metadata: inNamespace(object.metadata) };
}

/** The secret as the API server would hand it out: values in `data` only, with a type. */
export function completeSecret({ stringData, ...secret }: Secret): Secret {
  const withText = stringData === undefined ? secret : { ...secret, data: mergedSecretData({ ...secret, stringData }) };
  return {
    ...withText,
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: inNamespace(secret.metadata),
    type: secret.type || 'Opaque',
  };
}

/** The values of a secret in base64; what is written as text wins over what is written as bytes. */
export function mergedSecretData({ data = {}, stringData = {} }: Secret): Readonly<Record<string, string>> {
  const texts = Object.entries(stringData).map(
    ([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')] as const,
  );
  return Object.fromEntries([...Object.entries(data), ...texts]);
}

function inNamespace(metadata: ObjectMeta = {}): ObjectMeta {
  return { ...metadata, namespace: metadata.namespace || 'default' };
}
