// Paths of this repository that a document names: targets of links, and code spans that look like a file or a folder of it.
import { dirname, join, normalize } from 'node:path';

const roots = ['bench', 'bin', 'docs', 'proto', 'src', 'test', 'tools'];
const rootPath = new RegExp(`^(?:${roots.join('|')})/`);
const sourceFile = /^[\w*{][\w.*{},/-]*\.(?:ts|mjs|md)$/;
/** What the programs of the repository write. */
const outputs = /^bench\/results\//;

/**
 * @param {string} text of the document
 * @returns {{line: number, path: string, isLink: boolean}[]} in the order of the text
 */
function namedPaths(text) {
  const found = [];
  let inFence = false;
  text.split('\n').forEach((content, index) => {
    if (content.startsWith('```')) inFence = !inFence;
    if (inFence) return;
    for (const [, target] of content.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (!/^[a-z]+:/.test(target)) found.push({ line: index + 1, path: target, isLink: true });
    }
    for (const [, span] of content.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
      for (const path of isPath(span) ? expandBraces(span) : []) found.push({ line: index + 1, path, isLink: false });
    }
  });
  return found;
}

function isPath(span) {
  if (/[\s<>$:…()]/.test(span)) return false;
  return !outputs.test(span) && (rootPath.test(span) || sourceFile.test(span));
}

/** `a-{b,c}.ts` → `a-b.ts`, `a-c.ts`. */
function expandBraces(path) {
  const [, before, choices, after] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(path) ?? [];
  if (choices === undefined) return [path];
  return choices.split(',').flatMap((choice) => expandBraces(`${before}${choice}${after}`));
}

/**
 * The paths that a document names and the repository has not. A link is relative to the document. A code span is a path
 * of the repository or of `src/`, or ends one in the document's folder; documents of all of the repository may name any
 * file by its end. `*` stands for any characters of a name.
 * @param {string} document its path in the repository
 * @param {string} text
 * @param {readonly string[]} files all paths of files in the repository
 */
export function missingPaths(document, text, files) {
  const folder = dirname(document);
  const scope = /^(?:\.|docs(?:\/.+)?)$/.test(folder) ? '' : `${folder}/`;
  const known = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));
  return namedPaths(text).filter(({ path, isLink }) => {
    if (isLink) return !known.has(normalize(join(folder, path)).replace(/\/$/, ''));
    return !exists(path.replace(/\/\*{0,2}$/, ''), scope, known);
  });
}

function exists(path, scope, known) {
  const places = [path, `src/${path}`, `${scope}${path}`];
  if (places.some((place) => known.has(normalize(place)))) return true;
  const pattern = path
    .replace(/[.+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('**', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('\0', '.*');
  // A bare name stands for a file anywhere below the document's scope.
  const whole = new RegExp(`^(?:(?:src/)?${pattern}|${scope}(?:.*/)?${pattern})$`);
  return [...known].some((file) => whole.test(file));
}

function foldersOf(file) {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
