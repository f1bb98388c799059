// Which classes keep something by pod, and whether the way by which memory of pods ends counts it.
import { parseSync } from 'oxc-parser';

const keptByPod = /\b(?:Readonly)?(?:Map|Set)<PodUid\b/;

/**
 * The fields that are maps or sets by PodUid, with their class, and `counted`: a registration with PodRemoval reaches a
 * method that looks at the field. What it reaches is found by names: the methods that registrations call, `size` first,
 * and the methods that those call in turn.
 *
 * @param {readonly { readonly path: string, readonly text: string }[]} files
 * @returns {{ readonly path: string, readonly className: string, readonly field: string, readonly counted: boolean }[]}
 */
export function perPodState(files) {
  const parsed = files.map(({ path, text }) => ({ path, text, program: parseSync(path, text).program }));
  const classes = parsed.flatMap(classesOf);
  const byName = new Map(classes.map((each) => [each.name, each]));
  const calls = parsed.flatMap(registrationsOf);
  const counting = new Set(['size']);
  const registered = new Set();
  for (const { text, classNames } of calls) {
    for (const name of classNames) registered.add(name);
    for (const [, method] of text.matchAll(/\.(#?\w+)\(/g)) counting.add(method);
    for (const [, method] of text.matchAll(/\.(#?\w+)\.size\b/g)) counting.add(method);
  }
  counting.delete('forget');
  // Who is registered answers for what it makes.
  for (const name of registered) {
    for (const made of byName.get(name)?.makes ?? []) registered.add(made);
  }
  /** What the counting methods of one class say, those they call in it included. */
  const countingText = ({ methods }) => {
    const names = new Set([...methods.keys()].filter((name) => counting.has(name)));
    let text = '';
    for (const name of names) {
      const body = methods.get(name) ?? '';
      text += body;
      for (const [, called] of body.matchAll(/\bthis\.(#?\w+)\(/g)) if (methods.has(called)) names.add(called);
    }
    return text;
  };
  // A count may go through other objects: their methods count too.
  for (let before = -1; before !== counting.size;) {
    before = counting.size;
    for (const each of classes.filter(({ name }) => registered.has(name))) {
      for (const [, method] of countingText(each).matchAll(/\.(\w+)\(/g)) counting.add(method);
    }
  }
  return classes.flatMap((each) =>
    each.fields.map((field) => ({
      path: each.path,
      className: each.name,
      field,
      counted:
        registered.has(each.name) &&
        (new RegExp(`\\bthis\\.${field}\\b`).test(countingText(each)) ||
          calls.some(({ owner, text }) => owner === each.name && text.includes(`this.${field}`))),
    })),
  );
}

function classesOf({ path, text, program }) {
  const found = [];
  walk(program, (node) => {
    if (node.type !== 'ClassDeclaration' || node.id === null) return;
    const members = node.body.body;
    const nameOf = ({ key }) => (key.type === 'PrivateIdentifier' ? `#${key.name}` : key.name);
    const source = ({ start, end }) => text.slice(start, end);
    found.push({
      path,
      name: node.id.name,
      fields: members
        .filter((member) => member.type === 'PropertyDefinition' && keptByPod.test(source(member)))
        .map(nameOf),
      methods: new Map(
        members.filter(({ type }) => type === 'MethodDefinition').map((one) => [nameOf(one), source(one)]),
      ),
      // A class may have helpers beside it in its file.
      makes: [...text.matchAll(/\bnew (\w+)(?:<[^(]*>)?\(/g)].map(([, made]) => made),
    });
  });
  return found;
}

/** Calls of `register` and `registerSelfEnding` on what is named after a removal, with the classes they speak of. */
function registrationsOf({ text, program }) {
  const found = [];
  walk(program, (node, parents) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return;
    const { object, property } = node.callee;
    if (!/^register(?:SelfEnding)?$/.test(property.name ?? '')) return;
    if (!/removal$/i.test(text.slice(object.start, object.end))) return;
    // In a loop over what an object has to register, the loop names that object.
    const { start, end } = parents.findLast(({ type }) => type === 'ForOfStatement') ?? node;
    const call = text.slice(start, end);
    const owner = parents.findLast(({ type }) => type === 'ClassDeclaration')?.id?.name;
    const words = new Set(call.match(/\b[a-z]\w*\b/g));
    const classNames = [...words].flatMap((word) => classNamesOf(word, text));
    found.push({ text: call, owner, classNames: owner === undefined ? classNames : [...classNames, owner] });
  });
  return found;
}

/** What a variable of a file may be: made by its class, by a function of the file, or said by a type. */
function classNamesOf(word, text) {
  const named = [...text.matchAll(new RegExp(`\\b${word}(?: = new |: )([A-Z]\\w*)`, 'g'))];
  const made = [...text.matchAll(new RegExp(`\\b${word} = (\\w+)\\(`, 'g'))].flatMap(([, maker]) => [
    ...text.matchAll(new RegExp(`\\bfunction ${maker}\\([^]*?\\): ([A-Z]\\w*) \\{`, 'g')),
  ]);
  return [...named, ...made].map(([, name]) => name);
}

function walk(node, visit, parents = []) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit, parents);
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') visit(node, parents);
    for (const value of Object.values(node)) walk(value, visit, [...parents, node]);
  }
}
