import { messageOf } from '../../base/errors.ts';
import { parseYamlDocuments, YamlError, type YamlDocument } from '../../base/yaml.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { decodeObject } from '../../model/decode-object.ts';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
import { defaultPod } from '../../model/pod-defaults.ts';
import type { StandaloneObject } from '../../model/standalone-object.ts';
import { staticPodRefusal, toStaticPod } from '../../model/static-pod.ts';
import { validatePod, type FieldPath } from '../../model/validation/index.ts';
import { itemAt, type Findings, type Item, type Manifest, type ManifestOptions } from './manifest.ts';
import { readObject } from './read-object.ts';

/** Reads a text of pods, as files and URLs give it: YAML or JSON, several documents, lists. */
export function readManifest(text: string, options: ManifestOptions): Manifest {
  const pods: DesiredPod[] = [];
  const objects: StandaloneObject[] = [];
  const findings: Findings = { warnings: [], faults: [] };
  const { warnings, faults } = findings;
  try {
    const documents = parseYamlDocuments(text, {
      onDuplicateKey: (key, line) => warnings.push({ line, message: `key "${key}" stands twice; the last one counts` }),
    });
    if (documents.length === 0) faults.push({ message: 'it holds no pod' });
    for (const document of documents) {
      for (const item of itemsOf(document, options, findings)) {
        const { kind } = item;
        if (kind === 'Pod') pods.push(...readPod(item, options, findings));
        else objects.push(...readObject(kind, item, options.origin, findings));
      }
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    faults.push({ line: error.line, message: messageOf(error) });
  }
  return { pods, objects, warnings, faults };
}

const objectKinds = ['ConfigMap', 'Secret'] as const;
const whereObjectsCount =
  'ConfigMaps and Secrets are read only from the manifest folder of a node without an API server';

/** A document is one object or a list of them; anything else is a fault. */
function itemsOf(document: YamlDocument, options: ManifestOptions, { faults }: Findings): readonly Item[] {
  const { value } = document;
  const single: readonly Item['kind'][] = options.allowFolderObjects === true ? ['Pod', ...objectKinds] : ['Pod'];
  const wrong = (path: FieldPath, message: string): readonly Item[] => {
    faults.push({ line: document.lineOf(path), message });
    return [];
  };
  const wrongKind = (
    path: FieldPath,
    field: string,
    kind: unknown,
    ...supported: readonly string[]
  ): readonly Item[] => {
    const hint = objectKinds.some((one) => one === kind) ? `; ${whereObjectsCount}` : '';
    return wrong(path, `${field}: ${expectedOne(kind, ...supported)}${hint}`);
  };
  if (!isMapping(value)) return wrong([], 'expected a pod, that is a mapping with apiVersion, kind, metadata and spec');
  if (value['apiVersion'] !== 'v1')
    return wrong(['apiVersion'], `apiVersion: ${expectedOne(value['apiVersion'], 'v1')}`);
  const known = single.find((kind) => kind === value['kind']);
  if (known !== undefined) return [itemAt(document, known, value, [])];
  if (value['kind'] !== 'PodList' && value['kind'] !== 'List') {
    return wrongKind(['kind'], 'kind', value['kind'], ...single, 'PodList', 'List');
  }
  const isPodList = value['kind'] === 'PodList';
  const inList = isPodList ? (['Pod'] as const) : single;
  const { items } = value;
  if (items === undefined || items === null) return [];
  if (!Array.isArray(items)) return wrong(['items'], 'items: expected a list of pods');
  return items.flatMap((item: unknown, index): readonly Item[] => {
    const given = isMapping(item) ? item['kind'] : undefined;
    // The items of a typed list need not repeat their kind.
    const kind = inList.find((one) => one === (given ?? (isPodList ? 'Pod' : undefined)));
    if (kind !== undefined) return [itemAt(document, kind, item, ['items', index])];
    return wrongKind(['items', index, 'kind'], `items[${index}].kind`, given, ...inList);
  });
}

/** The pod of an item; none if it is not valid. */
function readPod(
  { value, lineOf }: Item,
  options: ManifestOptions,
  { warnings, faults }: Findings,
): readonly DesiredPod[] {
  const { object, problems } = decodeObject('Pod', value, lineOf);
  for (const { severity, line, message } of problems) {
    (severity === 'error' ? faults : warnings).push({ line, message });
  }
  // With parts missing, validation would report the decoder's gaps and not faults of the manifest.
  if (problems.some((problem) => problem.severity === 'error')) return [];
  const pod = toStaticPod(defaultPod(object), options);
  const found = validatePod(pod, options.rules).map(({ path, message }) => ({ line: lineOf(path), message }));
  const refusal = found.length > 0 ? undefined : staticPodRefusal(pod, options);
  if (refusal !== undefined) found.push({ line: lineOf([]), message: `${nameOf(object)}: ${refusal}` });
  faults.push(...found);
  return found.length === 0 ? [desiredPod(options.source, pod)] : [];
}

function nameOf(pod: Pod): string {
  return `pod ${pod.metadata?.name ?? '?'}`;
}

function expectedOne(value: unknown, ...supported: readonly string[]): string {
  if (value === undefined || value === null) return 'Required value';
  const values = supported.map((one) => JSON.stringify(one)).join(', ');
  return `Unsupported value: ${show(value).slice(0, 100)}: supported values: ${values}`;
}

/** A scalar as it was written. Integers that no number holds are bigints, which JSON does not know. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'bigint' ? value.toString() : (JSON.stringify(value) ?? 'nothing');
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
