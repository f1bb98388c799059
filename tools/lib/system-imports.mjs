// Whether a file touches the disk or starts programs: the adapters do, everything else asks them through a port.

const modules = new Set(['fs', 'fs/promises', 'child_process']);
const mentions = /\b(?:fs|child_process)\b/;

/**
 * The places where a file takes values, not only types, from a module of Node that touches the disk or starts programs.
 * @param {typeof import('oxc-parser').parseSync} parseSync
 * @param {string} file for the language
 * @param {string} text of the file
 * @returns {{offset: number, module: string}[]}
 */
export function systemImports(parseSync, file, text) {
  if (!mentions.test(text)) return [];
  const found = [];
  walk(parseSync(file, text).program, (node) => {
    const source = sourceOf(node);
    const module = source?.type === 'Literal' ? String(source.value).replace(/^node:/, '') : '';
    if (modules.has(module)) found.push({ offset: node.start, module });
  });
  return found;
}

/** The expression that names the module, where the node loads one. */
function sourceOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
      return node.importKind === 'type' ? undefined : node.source;
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return node.exportKind === 'type' ? undefined : node.source;
    case 'ImportExpression':
      return node.source;
    case 'CallExpression':
      return isLoader(node.callee) ? node.arguments[0] : undefined;
    default:
      return undefined;
  }
}

/** `require`, or `process.getBuiltinModule`. */
function isLoader(callee) {
  if (callee.type === 'Identifier') return callee.name === 'require';
  return callee.type === 'MemberExpression' && callee.property.name === 'getBuiltinModule';
}

function walk(node, visit) {
  visit(node);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const child of value) if (typeof child?.type === 'string') walk(child, visit);
    } else if (typeof value?.type === 'string') walk(value, visit);
  }
}
