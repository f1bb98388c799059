import { parseEvents, YAMLException, type Event } from 'js-yaml';
import { isLargeJson, parseLargeJson } from './large-json.ts';
import { composeDocuments, type YamlChild, type YamlNode } from './yaml-compose.ts';
import { LineIndex, YamlError } from './yaml-error.ts';

export { YamlError } from './yaml-error.ts';

/** One document of a YAML or JSON text, with the way back to the lines it was read from. */
export interface YamlDocument {
  readonly value: unknown;
  /** 1-based line of the key or item at that path, else of its nearest existing ancestor. */
  lineOf(path: readonly (string | number)[]): number;
}

interface YamlOptions {
  /** Called for a duplicate key in a mapping; the last one then wins. Without it such a key is an error. */
  readonly onDuplicateKey?: (key: string, line: number) => void;
}

/**
 * What one text may cost: it is read in one go, and half a million values in a line took as many microseconds. A
 * ConfigMap of the size that the API allows, with its indentation, fits twice.
 */
const maxYamlLength = 2 * 1024 * 1024;
const maxYamlValues = 200_000;
const remedy = 'split it into several files, or write it as JSON';

/**
 * Reads all documents of a text the way Kubernetes tools written in Go read it, so that one file means the same to
 * both. Documents without content are left out.
 */
export function parseYamlDocuments(text: string, options: YamlOptions = {}): readonly YamlDocument[] {
  // The YAML reader could read JSON, but takes ten times as long.
  const json = isLargeJson(text) ? parseLargeJson(text, maxYamlValues) : undefined;
  if (json !== undefined) return [json];
  if (text.length > maxYamlLength) {
    throw new YamlError(`the text has ${text.length} characters, more than ${maxYamlLength}: ${remedy}`, 1, 1);
  }
  const lines = new LineIndex(text);
  const events = readEvents(text);
  if (events.length > maxYamlValues) {
    throw new YamlError(`the text has more than ${maxYamlValues} values: split it into several files`, 1, 1);
  }
  const nodes = composeDocuments(text, events, lines, options.onDuplicateKey);
  return nodes.filter((node) => node.value !== null).map(toDocument);
}

function readEvents(text: string): readonly Event[] {
  try {
    return parseEvents(text, { maxDepth: 200 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    throw new YamlError(error.reason, line + 1, column + 1, { cause: error });
  }
}

function toDocument(root: YamlNode): YamlDocument {
  return {
    value: root.value,
    lineOf(path) {
      let node = root;
      let line = root.line;
      for (const step of path) {
        const child: YamlChild | undefined = node.children?.get(String(step));
        if (child === undefined) break;
        line = child.line;
        node = child.node;
      }
      return line;
    },
  };
}
