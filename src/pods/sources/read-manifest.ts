import { messageOf } from '../../base/errors.ts';
import { parseYamlDocuments, YamlError, type YamlDocument } from '../../base/yaml.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { decodeObject } from '../../model/decode-object.ts';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
import { defaultPod } from '../../model/pod-defaults.ts';
import { staticPodRefusal, toStaticPod, type StaticPodOrigin } from '../../model/static-pod.ts';
import { validatePod, type FieldPath, type PodRules } from '../../model/validation/index.ts';

export interface ManifestOptions extends StaticPodOrigin {
  /** Feature gate PreventStaticPodAPIReferences. */
  readonly preventApiReferences: boolean;
  readonly rules: PodRules;
}

export interface Finding {
  /** 1-based; absent where the finding is about the file as a whole. */
  readonly line?: number;
  readonly message: string;
}

export interface Manifest {
  readonly pods: readonly DesiredPod[];
  /** What was taken but was hardly meant that way. */
  readonly warnings: readonly Finding[];
  /** Why some or all of the text could not be taken. */
  readonly faults: readonly Finding[];
}

/** One object of a text and the place where it stands in its document. */
interface Item {
  readonly value: unknown;
  readonly prefix: FieldPath;
}

/** Reads a text of pods, as files and URLs give it: YAML or JSON, several documents, lists. */
export function readManifest(text: string, options: ManifestOptions): Manifest {
  const pods: DesiredPod[] = [];
  const warnings: Finding[] = [];
  const faults: Finding[] = [];
  try {
    const documents = parseYamlDocuments(text, {
      onDuplicateKey: (key, line) => warnings.push({ line, message: `key "${key}" stands twice; the last one counts` }),
    });
    if (documents.length === 0) faults.push({ message: 'the file holds no pod' });
    for (const document of documents) {
      for (const item of itemsOf(document, faults)) {
        const pod = readPod(item, document, options, warnings, faults);
        if (pod !== undefined) pods.push(pod);
      }
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    faults.push({ line: error.line, message: messageOf(error) });
  }
  return { pods, warnings, faults };
}

/** A document is a pod or a list of pods; anything else is a fault. */
function itemsOf(document: YamlDocument, faults: Finding[]): readonly Item[] {
  const { value } = document;
  const wrong = (path: FieldPath, message: string): readonly Item[] => {
    faults.push({ line: document.lineOf(path), message });
    return [];
  };
  if (!isMapping(value)) return wrong([], 'expected a pod, that is a mapping with apiVersion, kind, metadata and spec');
  if (value['apiVersion'] !== 'v1')
    return wrong(['apiVersion'], `apiVersion: ${expectedOne(value['apiVersion'], 'v1')}`);
  switch (value['kind']) {
    case 'Pod':
      return [{ value, prefix: [] }];
    case 'PodList':
    case 'List': {
      const { items } = value;
      if (items === undefined || items === null) return [];
      if (!Array.isArray(items)) return wrong(['items'], 'items: expected a list of pods');
      return items.flatMap((item: unknown, index): readonly Item[] => {
        const kind = isMapping(item) ? item['kind'] : undefined;
        // The items of a typed list need not repeat their kind.
        if (kind === 'Pod' || (kind === undefined && value['kind'] === 'PodList')) {
          return [{ value: item, prefix: ['items', index] }];
        }
        return wrong(['items', index, 'kind'], `items[${index}].kind: ${expectedOne(kind, 'Pod')}`);
      });
    }
    default:
      return wrong(['kind'], `kind: ${expectedOne(value['kind'], 'Pod', 'PodList', 'List')}`);
  }
}

function readPod(
  item: Item,
  document: YamlDocument,
  options: ManifestOptions,
  warnings: Finding[],
  faults: Finding[],
): DesiredPod | undefined {
  const lineOf = (path: FieldPath): number => document.lineOf([...item.prefix, ...path]);
  const { object, problems } = decodeObject('Pod', item.value, lineOf);
  for (const { severity, line, message } of problems) {
    (severity === 'error' ? faults : warnings).push({ line, message });
  }
  // With parts missing, whatever validation says would be about the decoder's gaps, not about the manifest.
  if (problems.some((problem) => problem.severity === 'error')) return undefined;
  const pod = toStaticPod(defaultPod(object), options);
  const found = validatePod(pod, options.rules).map(({ path, message }) => ({ line: lineOf(path), message }));
  const refusal = found.length > 0 ? undefined : staticPodRefusal(pod, options.preventApiReferences);
  if (refusal !== undefined) found.push({ line: lineOf([]), message: `${nameOf(object)}: ${refusal}` });
  if (found.length === 0) return desiredPod(options.source, pod);
  faults.push(...found);
  return undefined;
}

function nameOf(pod: Pod): string {
  return `pod ${pod.metadata?.name ?? '?'}`;
}

function expectedOne(value: unknown, ...supported: readonly string[]): string {
  if (value === undefined || value === null) return 'Required value';
  const words = supported.map((word) => JSON.stringify(word)).join(', ');
  return `Unsupported value: ${JSON.stringify(value).slice(0, 100)}: supported values: ${words}`;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
