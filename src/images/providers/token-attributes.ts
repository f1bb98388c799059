import type { FieldReader } from './field-reader.ts';

/** For plugins that act on behalf of a pod's service account instead of the node. */
export interface TokenAttributes {
  readonly audience: string;
  /** Whether answers are cached for all tokens of an account, or for one token. */
  readonly cacheType: 'ServiceAccount' | 'Token';
  /** Whether the plugin is skipped for pods without an account. */
  readonly required: boolean;
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

const annotationKey =
  /^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\/)?[a-z0-9]([\w.-]*[a-z0-9])?$/i;

export function readTokenAttributes(reader: FieldReader): TokenAttributes {
  reader.onlyKnown([
    'serviceAccountTokenAudience',
    'cacheType',
    'requireServiceAccount',
    'requiredServiceAccountAnnotationKeys',
    'optionalServiceAccountAnnotationKeys',
  ]);
  const audience = reader.text('serviceAccountTokenAudience');
  if (audience === '') reader.missing('serviceAccountTokenAudience', 'whom the tokens are for');
  const cacheType = reader.oneOf('cacheType', ['ServiceAccount', 'Token']);
  const required = reader.flag('requireServiceAccount');
  if (required === undefined) reader.missing('requireServiceAccount', 'true or false');
  const requiredAnnotations = readKeys(reader, 'requiredServiceAccountAnnotationKeys');
  const optionalAnnotations = readKeys(reader, 'optionalServiceAccountAnnotationKeys');
  if (required === false && requiredAnnotations.length > 0) {
    reader.problem('needs requireServiceAccount: true', 'requiredServiceAccountAnnotationKeys');
  }
  for (const key of optionalAnnotations.filter((name) => requiredAnnotations.includes(name))) {
    reader.problem(`${JSON.stringify(key)} is required already`, 'optionalServiceAccountAnnotationKeys');
  }
  return {
    audience,
    cacheType: cacheType === 'Token' ? 'Token' : 'ServiceAccount',
    required: required ?? true,
    requiredAnnotations,
    optionalAnnotations,
  };
}

function readKeys(reader: FieldReader, field: string): readonly string[] {
  const keys = reader.texts(field);
  for (const [index, key] of keys.entries()) {
    if (!annotationKey.test(key)) reader.problem(`${JSON.stringify(key)} is no key of an annotation`, field, index);
    else if (keys.indexOf(key) < index) reader.problem(`${JSON.stringify(key)} stands there twice`, field, index);
  }
  return keys;
}
