// What a root returns is for others to read. A store has a writing side, so that it leaves its root in parts only:
// `Pick<PodStatuses, 'get'>`, or an interface of the room. Which classes are stores or writers is in docs/ownership.md.

/**
 * @param {string} document the text of docs/ownership.md
 * @returns {ReadonlySet<string>} the classes that the column of the only writers names
 */
export function storesOf(document) {
  const cells = document.split('\n').map((line) => (line.startsWith('|') ? (line.split('|')[2] ?? '') : ''));
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name)));
}

/**
 * The stores that exported functions `create…` hand out as a whole, in their declared return types and in the interfaces
 * and types of the same file that these name.
 * @param {typeof import('oxc-parser').parseSync} parseSync
 * @param {string} file for the language
 * @param {string} text of the file
 * @param {ReadonlySet<string>} stores
 * @returns {{offset: number, name: string}[]}
 */
export function storesInViews(parseSync, file, text, stores) {
  const declared = new Map();
  const returned = [];
  for (const statement of parseSync(file, text).program.body) {
    const node = statement.declaration ?? statement;
    if (node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration')
      declared.set(node.id.name, node);
    const isRoot = node.type === 'FunctionDeclaration' && /^create[A-Z]/.test(node.id?.name ?? '');
    if (isRoot && statement !== node && node.returnType) returned.push(node.returnType);
  }
  const found = [];
  const seen = new Set();
  const look = (node) => {
    if (node.type === 'TSTypeReference' || node.type === 'TSInterfaceHeritage') {
      const name = (node.typeName ?? node.expression).name;
      if (name === 'Pick') return;
      if (stores.has(name)) found.push({ offset: node.start, name });
      if (declared.has(name) && !seen.has(name)) {
        seen.add(name);
        look(declared.get(name));
      }
    }
    // What a view is asked with is given to it, not handed out.
    const given = node.type === 'TSMethodSignature' || node.type === 'TSFunctionType' ? ['params'] : [];
    for (const [key, value] of Object.entries(node)) {
      if (given.includes(key)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (typeof child?.type === 'string') look(child);
    }
  };
  for (const node of returned) look(node);
  return found;
}
