import { dirname, isAbsolute, join } from 'node:path/posix';
import { parseYamlDocuments, YamlError, type YamlDocument } from '../base/yaml.ts';
import { decodeObject, type DecodeContext } from './decode-value.ts';
import { quote, type Fault } from './fault.ts';
import { byDefault, type Origin } from './origin.ts';
import { configApiVersion, configKind, kubeletFields, pathFields } from './schema/fields.ts';
import { branch, leaf, nodeAt, withNode, type Branch } from './sourced-tree.ts';

export interface DecodedFile {
  readonly tree: Branch;
  /** Faults that make the file unusable. */
  readonly faults: readonly Fault[];
  /** Faults that strict decoding refuses and lenient decoding ignores: unknown and repeated fields. */
  readonly warnings: readonly Fault[];
}

/** Decodes one configuration file or drop-in, and finds all its faults at once. */
export function decodeFile(text: string, path: string, kind: 'file' | 'dropIn'): DecodedFile {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  const at = (line: number): Origin => ({ kind, path, line });
  const nothing = { tree: branch(byDefault), faults, warnings };
  let documents: readonly YamlDocument[];
  try {
    documents = parseYamlDocuments(text, {
      onDuplicateKey: (key, line) =>
        warnings.push({ field: key, message: 'this field is set twice, the last one counts', origin: at(line) }),
    });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    faults.push({
      field: '',
      message: `not valid YAML: ${error.reason} (column ${error.column})`,
      origin: at(error.line),
    });
    return nothing;
  }
  const [document, second] = documents;
  if (document === undefined) {
    faults.push({ field: '', message: 'the file is empty', origin: at(1) });
    return nothing;
  }
  if (second !== undefined) {
    warnings.push({ field: '', message: 'only the first document of the file is read', origin: at(second.lineOf([])) });
  }
  const originOf = (steps: readonly (string | number)[]): Origin => at(document.lineOf(steps));
  return decodeDocument(document.value, { originOf, faults, unknownFields: warnings });
}

function decodeDocument(raw: unknown, context: DecodeContext): DecodedFile {
  const { faults, unknownFields: warnings } = context;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    faults.push({
      field: '',
      message: `expected a mapping of fields, got ${quote(raw)}`,
      origin: context.originOf([]),
    });
    return { tree: branch(byDefault), faults, warnings };
  }
  const { apiVersion, kind, ...fields } = raw as Readonly<Record<string, unknown>>;
  checkWord('apiVersion', apiVersion, configApiVersion, context);
  checkWord('kind', kind, configKind, context);
  return { tree: decodeObject(kubeletFields, fields, [], context), faults, warnings };
}

function checkWord(field: string, value: unknown, expected: string, context: DecodeContext): void {
  if (value === expected) return;
  const message =
    value === undefined ? `missing; add "${field}: ${expected}"` : `expected ${expected}, got ${quote(value)}`;
  context.faults.push({ field, message, origin: context.originOf([field]) });
}

/** Relative paths in the main file start from the folder of the file. */
export function withResolvedPaths(tree: Branch, file: string): Branch {
  let result = tree;
  for (const field of pathFields) {
    const path = field.split('.');
    const node = nodeAt(tree, path);
    if (node?.kind !== 'leaf' || typeof node.value !== 'string' || node.value === '' || isAbsolute(node.value))
      continue;
    result = withNode(result, path, leaf(join(dirname(file), node.value), node.origin));
  }
  return result;
}
