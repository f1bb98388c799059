import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeHandlerFor, type HandlerChoice, type RuntimeClasses } from './runtime-class.ts';

const announced = new Set(['', 'runc', 'kata']);
const classes: RuntimeClasses = {
  handlerOf: (name) =>
    new Map([
      ['secure', 'kata'],
      ['rare', 'gvisor'],
    ]).get(name),
};
const notFound = (name: string): HandlerChoice => ({ refusal: `runtimeclass.node.k8s.io "${name}" not found` });

const table: readonly (readonly [what: string, string | undefined, RuntimeClasses | undefined, HandlerChoice])[] = [
  ['no class', undefined, classes, { handler: '' }],
  ['an empty class', '', classes, { handler: '' }],
  ['a class that there is', 'secure', classes, { handler: 'kata' }],
  [
    'a class whose handler the runtime does not announce, which is for the runtime to say',
    'rare',
    classes,
    { handler: 'gvisor' },
  ],
  ['a class that there is not', 'kata', classes, notFound('kata')],
  ['no class, standalone', undefined, undefined, { handler: '' }],
  ['an announced handler, standalone', 'kata', undefined, { handler: 'kata' }],
  ['another, standalone', 'secure', undefined, notFound('secure')],
];

for (const [what, runtimeClassName, known, expected] of table) {
  test(what, () => {
    const spec = runtimeClassName === undefined ? {} : { runtimeClassName };
    assert.deepEqual(runtimeHandlerFor({ spec }, known, announced), expected);
  });
}
