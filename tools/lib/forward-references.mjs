// Composition reads as a list from top to bottom: what a component is given exists before the component does. A closure
// over a constant that comes later, or over a variable that is filled later, hides that two objects need each other; then
// a small object that both are given is made first.
//
//   const pods = createPods({ wake: () => node.wake() });     node is made below
//   let node; const pods = createPods({ wake: () => node?.wake() }); node = createNode();
//
// What stands in the module itself, outside of any function, is ready before any of its functions is called.

/** Nodes around an expression that say something of its type alone. */
const typeWrappers = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);
const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'StaticBlock']);
const blockTypes = new Set([
  'BlockStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'SwitchStatement',
  'CatchClause',
]);
/** Fields that hold names which are not variables. */
const labels = new Set(['label', 'meta', 'exported', 'imported']);

/**
 * @param {typeof import('oxc-parser').parseSync} parseSync
 * @param {string} file for the language
 * @param {string} text of the file
 * @returns {{offset: number, problem: string}[]} in the order of the text
 */
export function forwardReferences(parseSync, file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return [{ offset: 0, problem: `cannot be read: ${errors[0].message}` }];
  const reader = new Reader();
  reader.read(program);
  return reader.problems().sort((one, other) => one.offset - other.offset);
}

/** A scope of the language, and the function it belongs to: the module has none. */
class Scope {
  constructor(parent, owner) {
    this.parent = parent;
    this.owner = owner;
    this.bindings = new Map();
  }

  find(name) {
    return this.bindings.get(name) ?? this.parent?.find(name);
  }
}

class Reader {
  #scope = new Scope(undefined, undefined);
  #bindings = [];
  #uses = [];

  read(program) {
    for (const statement of program.body) this.#visit(statement);
  }

  problems() {
    const found = [];
    for (const { name, scope, offset, isWrite } of this.#uses) {
      const binding = scope.find(name);
      if (binding === undefined) continue;
      const use = { offset, isCaptured: scope.owner !== binding.owner };
      (isWrite ? binding.writes : binding.reads).push(use);
    }
    for (const binding of this.#bindings) found.push(...problemsOf(binding));
    return found;
  }

  #visit(node) {
    if (node.type.startsWith('TS')) {
      if (typeWrappers.has(node.type)) this.#visit(node.expression);
      return;
    }
    switch (node.type) {
      case 'Identifier':
        this.#use(node, false);
        return;
      case 'VariableDeclaration':
        for (const declarator of node.declarations) this.#declareVariable(node.kind, declarator, false);
        return;
      case 'ImportDeclaration':
        for (const { local } of node.specifiers) this.#declare('import', local.name, 0);
        return;
      case 'AssignmentExpression':
        this.#target(node.left, node.operator !== '=');
        this.#visit(node.right);
        return;
      case 'UpdateExpression':
        this.#target(node.argument, true);
        return;
      case 'MemberExpression':
        this.#visit(node.object);
        if (node.computed) this.#visit(node.property);
        return;
      case 'Property':
      case 'MethodDefinition':
      case 'PropertyDefinition':
      case 'AccessorProperty':
        this.#member(node);
        return;
      case 'ClassDeclaration':
      case 'ClassExpression':
        this.#class(node);
        return;
      default:
        if (functionTypes.has(node.type)) this.#function(node);
        else if (blockTypes.has(node.type)) this.#within(this.#scope.owner, () => this.#block(node));
        else this.#children(node);
    }
  }

  #children(node) {
    for (const [key, value] of Object.entries(node)) {
      if (labels.has(key)) continue;
      for (const child of Array.isArray(value) ? value : [value])
        if (typeof child?.type === 'string') this.#visit(child);
    }
  }

  #member(node) {
    if (node.computed) this.#visit(node.key);
    if (node.value === null || node.value === undefined) return;
    // The value of a field is worked out when an object is made, as if it were in a method.
    if (node.type === 'PropertyDefinition') this.#within(node, () => this.#visit(node.value));
    else this.#visit(node.value);
  }

  #class(node) {
    if (node.id !== null && node.type === 'ClassDeclaration') this.#declare('class', node.id.name, node.start);
    if (node.superClass !== null) this.#visit(node.superClass);
    this.#children(node.body);
  }

  #function(node) {
    if (node.type === 'FunctionDeclaration') this.#declare('function', node.id.name, node.start);
    this.#within(node, () => {
      if (node.type === 'FunctionExpression' && node.id !== null) this.#declare('param', node.id.name, 0);
      for (const param of node.params ?? []) this.#pattern('param', param, 0);
      const { body } = node;
      if (Array.isArray(body)) for (const statement of body) this.#visit(statement);
      else if (body?.type === 'BlockStatement') this.#block(body);
      else if (body !== null && body !== undefined) this.#visit(body);
    });
  }

  #block(node) {
    if (node.type === 'CatchClause') {
      if (node.param !== null) this.#pattern('param', node.param, 0);
      this.#visit(node.body);
      return;
    }
    const head = node.init ?? node.left;
    if (head?.type !== 'VariableDeclaration') {
      if (node.left !== undefined) this.#target(node.left, false);
      this.#children({ ...node, left: undefined });
      return;
    }
    // Each round has a variable of its own.
    for (const declarator of head.declarations) this.#declareVariable('const', declarator, true);
    this.#children({ ...node, init: undefined, left: undefined });
  }

  #within(owner, work) {
    const outer = this.#scope;
    this.#scope = new Scope(outer, owner);
    work();
    this.#scope = outer;
  }

  #declareVariable(kind, { id, init, start, end }, isOfLoop) {
    // A function may call itself; any other value does not exist before it is worked out.
    const isFunction = init !== null && functionTypes.has(init?.type);
    this.#pattern(kind, id, isFunction || isOfLoop ? start : end);
    if (init !== null && init !== undefined) this.#visit(init);
  }

  /** The names of a pattern are declared; defaults and computed keys in it are used. */
  #pattern(kind, node, readyAt) {
    switch (node?.type) {
      case 'Identifier':
        this.#declare(kind, node.name, readyAt);
        return;
      case 'AssignmentPattern':
        this.#pattern(kind, node.left, readyAt);
        this.#visit(node.right);
        return;
      case 'RestElement':
        this.#pattern(kind, node.argument, readyAt);
        return;
      case 'ArrayPattern':
        for (const element of node.elements) this.#pattern(kind, element, readyAt);
        return;
      case 'ObjectPattern':
        for (const property of node.properties) {
          if (property.computed) this.#visit(property.key);
          this.#pattern(kind, property.type === 'RestElement' ? property : property.value, readyAt);
        }
        return;
      default:
    }
  }

  /** What is assigned to. */
  #target(node, isRead) {
    switch (node?.type) {
      case 'Identifier':
        this.#use(node, true);
        if (isRead) this.#use(node, false);
        return;
      case 'AssignmentPattern':
        this.#target(node.left, false);
        this.#visit(node.right);
        return;
      case 'RestElement':
        this.#target(node.argument, false);
        return;
      case 'ArrayPattern':
        for (const element of node.elements) this.#target(element, false);
        return;
      case 'ObjectPattern':
        for (const property of node.properties)
          this.#target(property.type === 'RestElement' ? property : property.value, false);
        return;
      case undefined:
        return;
      default:
        if (typeWrappers.has(node.type)) this.#target(node.expression, isRead);
        else this.#visit(node);
    }
  }

  #declare(kind, name, readyAt) {
    const binding = { kind, name, readyAt, owner: this.#scope.owner, reads: [], writes: [] };
    this.#scope.bindings.set(name, binding);
    this.#bindings.push(binding);
  }

  #use({ name, start }, isWrite) {
    this.#uses.push({ name, offset: start, scope: this.#scope, isWrite });
  }
}

function problemsOf({ kind, name, readyAt, owner, reads, writes }) {
  const found = [];
  const isOfModule = owner === undefined;
  for (const { offset, isCaptured } of reads) {
    if (isOfModule || offset >= readyAt || !(isCaptured || kind === 'function')) continue;
    found.push({ offset, problem: `"${name}" is used before it is made: make it first, or what both need` });
  }
  if (kind === 'param') return found;
  const firstCapture = Math.min(...reads.filter(({ isCaptured }) => isCaptured).map(({ offset }) => offset));
  for (const { offset, isCaptured } of writes) {
    if (isCaptured) found.push({ offset, problem: `"${name}" of an outer function is assigned: return the value` });
    else if (firstCapture < offset)
      found.push({ offset, problem: `"${name}" is filled after a closure was made over it: make it first` });
  }
  return found;
}
