// Lines of the log say which line of which file wrote them. That is known when the program is bundled, so each call of a
// logger gets it as one more argument, which the types do not show and only the sink in src/telemetry reads:
//
//   log.info('Started', { pod })   becomes   log.info('Started', { pod }, "worker.ts:12")
//
// A logger is recognised by its name, which ends in `log`. What could be a call of a logger and cannot be given its
// position is an error of the build: another name, a method taken as a value, arguments that are spread.
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

/** Arguments of each method as src/base/log.ts declares them. */
export const argumentCounts = { info: 2, debug: 3, warn: 2, error: 3 };
/** Objects with a method of the same name that are no loggers. */
const otherNames = new Set(['console', 'registration']);
const loggerName = /(?:^l|L)og$/;
const loggerTypes = new Set(['Log', 'LogSink']);
const valueProblem = 'a method of a logger cannot be a value: call it';
const mentionsMethod = /\b(?:info|debug|warn|error)\b/;
const mightLog = /[lL]og\b|\.\s*(?:info|debug|warn|error)\s*\(/;

/** The esbuild plugin. */
export function logPositions() {
  return {
    name: 'log-positions',
    async setup(build) {
      const { parseSync } = await import('oxc-parser');
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return undefined;
        const file = relative(process.cwd(), path);
        const text = readFileSync(path, 'utf8');
        const { contents, errors } = addPositions(parseSync, file, text);
        return { contents, loader: 'ts', errors: errors.map((error) => toBuildError(file, text, error)) };
      });
    },
  };
}

/**
 * The source with the position of each call of a logger, and the places that cannot have one.
 * @param {typeof import('oxc-parser').parseSync} parseSync
 * @param {string} file for the name in the position
 * @param {string} text of the file
 * @returns {{contents: string, errors: {offset: number, text: string}[]}}
 */
export function addPositions(parseSync, file, text) {
  if (!mentionsMethod.test(text) || !mightLog.test(text)) return { contents: text, errors: [] };
  const { program, errors: syntaxErrors } = parseSync(file, text);
  // esbuild reports them, with more of what stands around.
  if (syntaxErrors.length > 0) return { contents: text, errors: [] };
  const found = { insertions: [], errors: [] };
  const name = basename(file);
  const lineOf = lineCounter(text);
  walk(program, undefined, (node, parent) => {
    const problem = examine(node, parent, (at, method, args) => {
      const missing = 'void 0, '.repeat(argumentCounts[method] - args.length);
      const position = JSON.stringify(`${name}:${lineOf(at)}`);
      found.insertions.push({ offset: args.at(-1).end, text: `, ${missing}${position}` });
    });
    if (problem !== undefined) found.errors.push({ offset: node.start, text: problem });
  });
  let contents = text;
  for (const { offset, text: added } of found.insertions.sort((a, b) => b.offset - a.offset))
    contents = contents.slice(0, offset) + added + contents.slice(offset);
  return { contents, errors: found.errors };
}

/** Hands a call of a logger to `place`; answers what is wrong with a node that could be one. */
function examine(node, parent, place) {
  if (node.type === 'ObjectPattern') return takesMethod(node, parent) ? valueProblem : undefined;
  if (node.type !== 'MemberExpression') return undefined;
  const method = node.property.name;
  const called = parent.type === 'CallExpression' && parent.callee === node;
  if (node.computed) return isLogger(node.object) ? 'name the method of the logger' : undefined;
  if (node.property.type !== 'Identifier' || !Object.hasOwn(argumentCounts, method)) return undefined;
  if (!isLogger(node.object)) {
    if (!called || otherNames.has(lastName(node.object))) return undefined;
    return 'this may be a logger: let its name end in "log", or add it to otherNames in tools/lib/log-positions.mjs';
  }
  if (!called) return valueProblem;
  const args = parent.arguments;
  if (args.some((argument) => argument.type === 'SpreadElement')) return 'arguments of a logger cannot be spread';
  if (args.length === 0 || args.length > argumentCounts[method])
    return `${method} of a logger takes at most ${argumentCounts[method]} arguments, and at least one`;
  place(node.property.start, method, args);
  return undefined;
}

/** `log`, `deps.log`, `this.#deps.log`, `start().log`, and what `with` makes of one. */
export function isLogger(node) {
  if (node?.type === 'CallExpression') {
    const { callee } = node;
    return callee.type === 'MemberExpression' && callee.property.name === 'with' && isLogger(callee.object);
  }
  return loggerName.test(lastName(node) ?? '');
}

/** `{ info }` of a logger, or a rest that it may be a part of. */
function takesMethod(pattern, parent) {
  const isOfLogger =
    (parent.type === 'VariableDeclarator' && isLogger(parent.init)) ||
    (parent.type === 'Property' && loggerName.test(parent.key.name ?? '')) ||
    loggerTypes.has(pattern.typeAnnotation?.typeAnnotation.typeName?.name);
  if (!isOfLogger) return false;
  return pattern.properties.some(({ type, key }) => type !== 'Property' || Object.hasOwn(argumentCounts, key.name));
}

/** The word before the dot of a call. */
function lastName(node) {
  switch (node?.type) {
    case 'Identifier':
      return node.name;
    case 'MemberExpression':
      return node.computed ? undefined : node.property.name;
    case 'ParenthesizedExpression':
    case 'TSNonNullExpression':
    case 'TSAsExpression':
    case 'ChainExpression':
      return lastName(node.expression);
    default:
      return undefined;
  }
}

export function walk(node, parent, visit) {
  visit(node, parent);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const child of value) if (typeof child?.type === 'string') walk(child, node, visit);
    } else if (typeof value?.type === 'string') walk(value, node, visit);
  }
}

/** From an offset to its line, counted from 1. */
export function lineCounter(text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    const after = starts.findIndex((start) => start > offset);
    return after < 0 ? starts.length : after;
  };
}

function toBuildError(file, text, { offset, text: problem }) {
  const line = lineCounter(text)(offset);
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return { text: problem, location: { file, line, column: offset - start, lineText: text.split('\n')[line - 1] } };
}
