import type { ManifestCase } from './case.ts';
import { textOf } from './tree.ts';

const maxShown = 20_000;

/** A case for people: every file and object of it. */
export function transcriptOf({ kind, world, files, objects }: ManifestCase): string {
  const cut = (text: string): string =>
    text.length > maxShown ? `${text.slice(0, maxShown)}… ${text.length} letters` : text;
  return [
    `${kind}, ${world}`,
    ...files.map(
      ({ name, bytes }) => `file ${JSON.stringify(name)}, ${bytes.length} bytes:\n${cut(bytes.toString('utf8'))}`,
    ),
    ...objects.map((tree) => `object: ${cut(textOf(tree, 'json'))}`),
  ].join('\n');
}
