// Exports that the product does not need: what no other file imports, and what only tests do.

/**
 * @typedef {object} UnusedExport
 * @property {string} path of the file
 * @property {string} name
 * @property {number} offset
 * @property {boolean} forTests whether tests import it
 * @property {boolean} usedHere whether its own file uses it; never so for what it only hands on
 */

/**
 * A name that a file hands on from another one is imported from where it was declared only if somebody imports it from the
 * file that hands it on. Of a module that is imported as a whole, those names are used that stand in the importing file.
 * @param {typeof import('oxc-parser').parseSync} parseSync
 * @param {ReadonlyMap<string, string>} files texts by path
 * @param {(path: string) => boolean} isTest
 * @param {(path: string, from: string) => string} resolve the path of what a file imports
 * @returns {UnusedExport[]}
 */
export function unusedExports(parseSync, files, isTest, resolve) {
  const modules = new Map([...files].map(([path, text]) => [path, readModule(parseSync, path, text)]));
  const imported = new Map([...files.keys()].map((path) => [path, { product: new Set(), tests: new Set() }]));

  const use = (target, name, side) => {
    const names = imported.get(target)?.[side];
    if (names === undefined || names.has(name)) return;
    names.add(name);
    for (const { from, names: handedOn } of modules.get(target).reExports) {
      const original = handedOn === undefined ? name : handedOn.get(name);
      if (original !== undefined) use(resolve(target, from), original, side);
    }
  };
  for (const [path, { imports, mentioned }] of modules) {
    const side = isTest(path) ? 'tests' : 'product';
    for (const { from, names } of imports) {
      const target = resolve(path, from);
      for (const name of names ?? namesOf(modules, target, resolve)) {
        if (names !== undefined || mentioned.has(name)) use(target, name, side);
      }
    }
  }

  return [...modules].flatMap(([path, { exports, reExports, mentioned }]) => {
    const { product, tests } = imported.get(path);
    return [...exports]
      .filter(([name]) => !product.has(name) && !(isTest(path) && tests.has(name)))
      .map(([name, offset]) => ({
        path,
        name,
        offset,
        forTests: tests.has(name),
        usedHere: !reExports.some(({ names }) => names?.has(name)) && (mentioned.get(name) ?? 0) > 1,
      }));
  });
}

/** All that a module exports, with what it hands on as a whole. */
function namesOf(modules, path, resolve) {
  const { exports = new Map(), reExports = [] } = modules.get(path) ?? {};
  const whole = reExports.filter(({ names }) => names === undefined);
  return [...exports.keys(), ...whole.flatMap(({ from }) => namesOf(modules, resolve(path, from), resolve))];
}

function readModule(parseSync, path, text) {
  const { module, program } = parseSync(path, text);
  const imports = module.staticImports.map(({ moduleRequest, entries }) => ({
    from: moduleRequest.value,
    names: entries.some(({ importName }) => importName.kind === 'NamespaceObject')
      ? undefined
      : entries.map(({ importName }) => importName.name ?? 'default'),
  }));
  const exports = new Map();
  const reExports = [];
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, importName, exportName, start } of entries) {
      const name = exportName.kind === 'None' ? undefined : (exportName.name ?? 'default');
      if (name !== undefined) exports.set(name, exportName.start ?? start);
      if (moduleRequest === null) continue;
      if (importName.kind === 'Name')
        reExports.push({ from: moduleRequest.value, names: new Map([[name, importName.name]]) });
      else if (name === undefined) reExports.push({ from: moduleRequest.value, names: undefined });
      else imports.push({ from: moduleRequest.value, names: undefined });
    }
  }
  const mentioned = new Map();
  walk(program, (node) => {
    if (node.type === 'Identifier') mentioned.set(node.name, (mentioned.get(node.name) ?? 0) + 1);
    const source = node.type === 'ImportExpression' || node.type === 'TSImportType' ? node.source : undefined;
    if (source?.type === 'Literal') imports.push({ from: source.value, names: undefined });
  });
  return { imports, exports, reExports, mentioned };
}

function walk(node, visit) {
  visit(node);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const child of value) if (typeof child?.type === 'string') walk(child, visit);
    } else if (typeof value?.type === 'string') walk(value, visit);
  }
}
