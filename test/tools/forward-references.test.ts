import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { forwardReferences } from '../../tools/lib/forward-references.mjs';

/** Where a sample is wrong, by the word that stands there, and what is said of it. */
const problems = (text: string): readonly string[] =>
  forwardReferences(parseSync, 'src/main/agent/create-agent.ts', text).map(
    ({ offset, problem }) => `${/^\w+/.exec(text.slice(offset))?.[0] ?? ''}: ${problem}`,
  );

const inFunction = (body: string): string => `export function createAgent(ports: Ports): Agent {\n${body}\n}`;
const tooEarly = (name: string): string =>
  `${name}: "${name}" is used before it is made: make it first, or what both need`;
const filledLater = (name: string): string =>
  `${name}: "${name}" is filled after a closure was made over it: make it first`;
const fromWithin = (name: string): string => `${name}: "${name}" of an outer function is assigned: return the value`;

describe('what is refused', () => {
  const rows: readonly (readonly [name: string, body: string, found: readonly string[]])[] = [
    [
      'a closure over a constant that comes later',
      'const pods = createPods({ wake: () => node.wake() }); const node = createNode(pods);',
      [tooEarly('node')],
    ],
    [
      'the same as a shorthand, in a method, in a template',
      'const a = { get() { return { node }; }, said: () => `${node}` }; const node = createNode();',
      [tooEarly('node'), tooEarly('node')],
    ],
    [
      'a class over a constant that comes later',
      'class Waker { node = node; wake() { node.wake(); } } const node = createNode(Waker);',
      [tooEarly('node'), tooEarly('node')],
    ],
    [
      'a part that is taken out of what comes later',
      'const a = make(() => wake()); const { view: { wake = nothing }, ...others } = createNode(a); use(others);',
      [tooEarly('wake')],
    ],
    [
      'a constant in whose own making a closure uses it',
      'const status = createStatus({ onChange: () => status.wake() });',
      [tooEarly('status')],
    ],
    [
      'a default that uses what comes later',
      'const a = (node = later) => node; const later = a();',
      [tooEarly('later')],
    ],
    [
      'a variable that is filled later',
      'let node: Node | undefined; const pods = createPods(() => node?.wake()); node = createNode(pods);',
      [filledLater('node')],
    ],
    [
      'the same from within a block',
      'let node; const stop = () => node?.stop(); try { node = createNode(); } catch { stop(); }',
      [filledLater('node')],
    ],
    [
      'the same by a pattern',
      'let node; const stop = () => node?.stop(); ({ node } = createNode()); [node] = [stop];',
      [filledLater('node'), filledLater('node')],
    ],
    ['a variable of an outer function', 'let last = 0; ports.on((next) => { last = next; });', [fromWithin('last')]],
    ['counting in one', 'let count = 0; ports.on(() => { count++; });', [fromWithin('count')]],
    [
      'a function of the same function that comes later, which may use what comes later',
      'const pods = createPods({ wake: wakeNode }); const node = createNode(pods); function wakeNode() { node.wake(); }',
      [tooEarly('wakeNode')],
    ],
    [
      'a function over a constant that comes later',
      'function wakeNode() { node.wake(); } const node = createNode(createPods(wakeNode));',
      [tooEarly('node')],
    ],
    [
      'in a block, and in a function within a function',
      'if (ports.api) { const a = () => () => b; const b = a(); use(b); }',
      [tooEarly('b')],
    ],
  ];
  for (const [name, body, found] of rows) test(name, () => assert.deepEqual(problems(inFunction(body)), found));

  test('a variable of the module', () => {
    assert.deepEqual(problems('let known; export function create() { known = make(); return known; }'), [
      fromWithin('known'),
    ]);
  });

  test('what cannot be read', () => {
    assert.match(problems('export function (')[0] ?? '', /cannot be read/);
  });
});

describe('what passes', () => {
  const rows: readonly (readonly [name: string, text: string])[] = [
    ['a list from top to bottom', inFunction('const node = createNode(); const pods = createPods(() => node.wake());')],
    [
      'what the module has, which is ready before any call',
      'export const create = () => make(limit, format); const limit = 5; function format() { return limit; }',
    ],
    ['a function that calls itself', inFunction('const walk = (n) => (n === 0 ? 0 : walk(n - 1)); return walk(3);')],
    [
      'a name of another scope',
      inFunction('const a = (node) => node; { const b = () => a; use(b); } const node = a();'),
    ],
    [
      'a name that is a key, a type or a label',
      inFunction('const a = () => ({ node: ports.node }) as node; const node = a();'),
    ],
    ['a type that comes later', inFunction('const a = (x: typeof node): node => x; const node = a(1);')],
    [
      'a variable that no closure sees',
      inFunction('let found; for (const one of ports.all) found = one; return found;'),
    ],
    ['a variable that has its value before a closure sees it', inFunction('let a = 1; a = 2; return () => a;')],
    ['a variable of a loop', inFunction('for (let i = 0; i < 3; i++) ports.on(() => i);')],
    ['a variable of the function itself', inFunction('ports.on(() => { let a = 0; a += 1; return a; });')],
    ['an argument of the function itself', inFunction('ports.on((a) => { a ??= 1; return a; });')],
    ['a field of an object', inFunction('class Box { #value; put(value) { this.#value = value; } } return new Box();')],
    ['what was caught', inFunction('try { run(); } catch (error) { ports.on(() => error); }')],
    ['wrappers of types', inFunction('const a = make()!; return () => (a satisfies A) as B;')],
  ];
  for (const [name, text] of rows) test(name, () => assert.deepEqual(problems(text), []));
});
