import type { ObjectMeta } from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { dnsLabel, dnsSubdomain, labelValue, podUidText, qualifiedName } from './names.ts';

/** All annotations of an object together; the API server refuses more. */
const maxAnnotationBytes = 256 * 1024;

export function validateMetadata(metadata: ObjectMeta, path: FieldPath, faults: Faults): void {
  if (metadata.name === undefined || metadata.name === '') faults.required([...path, 'name']);
  else faults.check([...path, 'name'], metadata.name, dnsSubdomain);
  if (metadata.namespace === undefined || metadata.namespace === '') faults.required([...path, 'namespace']);
  else faults.check([...path, 'namespace'], metadata.namespace, dnsLabel);
  // The uid becomes a folder name and a part of a cgroup's name: it must not have separators.
  if (metadata.uid) faults.check([...path, 'uid'], metadata.uid, podUidText);
  faults.atLeast([...path, 'generation'], metadata.generation, 0);
  validateLabels(metadata.labels, [...path, 'labels'], faults);
  validateAnnotations(metadata.annotations ?? {}, [...path, 'annotations'], faults);
  metadata.finalizers?.forEach((finalizer, index) => {
    faults.check([...path, 'finalizers', index], finalizer, qualifiedName);
  });
  metadata.ownerReferences?.forEach((owner, index) => {
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (owner[field] === '') faults.required([...path, 'ownerReferences', index, field]);
    }
  });
}

export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  faults: Faults,
): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    faults.check([...path, key], key, qualifiedName);
    faults.check([...path, key], value, labelValue);
  }
}

function validateAnnotations(annotations: Readonly<Record<string, string>>, path: FieldPath, faults: Faults): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // Older tools wrote capitals into the prefix; they are as good as small letters here, unlike in labels.
    faults.check([...path, key], key.toLowerCase(), qualifiedName);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes) {
    faults.invalid(
      path,
      `${bytes} bytes`,
      `all annotations together must not have more than ${maxAnnotationBytes} bytes`,
    );
  }
}
