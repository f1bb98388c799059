import type { Dice } from '../../simulation/dice.ts';
import { Raw, type Tree } from './tree.ts';

/** Names that every object of this language has without being given them. */
export const prototypeKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'isPrototypeOf',
  'prototype',
  'length',
] as const;

export const traversals = [
  '..',
  '../x',
  '../../../../etc/passwd',
  '/',
  '//',
  '/etc/passwd',
  'a/../../b',
  './..',
  '...',
  '..data',
  '..2025_01_01',
  'a/..',
  '.',
  '~',
  'a\0b',
  '\0',
  'a\\..\\b',
  '%2e%2e%2f',
  'a\nb',
  'x'.repeat(300),
  `${'d/'.repeat(3000)}f`,
  ':ro',
  '/a:/b',
  '-rf',
  '$(HOME)',
  '\u202e/cte',
  '',
] as const;

export const unicodes = [
  'a\0b',
  '\ufeffpod',
  '\u202egnp.exe',
  '\ud800',
  'x\udfff\ud800y',
  '\u{1f4a9}'.repeat(40),
  'e\u0301'.repeat(50),
  '\u2028\u2029\u0085',
  '\x1b[31mred\x07',
  '\r\n\t\v\f',
  'İıſK',
  'ＡＢＣ',
  '\u200b\u200d\u2060',
] as const;

const longTexts = (dice: Dice): string =>
  dice
    .pick(['x', 'ab ', '$(', '/', '\n', '"', '\\', 'é', '\u{1f600}'])
    .repeat(dice.pick([64, 254, 1_000, 5_000, 70_000]));

export const quantities = [
  '1e999999',
  '1e-999999',
  '1Ki.5',
  '-0',
  '-1',
  '0',
  '9223372036854775807',
  '9223372036854775808',
  '9e18Ei',
  '1E',
  '1e',
  '0x10',
  '1_000',
  '.5m',
  '+1',
  '1 Gi',
  '١',
  '1n',
  '1u',
  '0.0000000001n',
  '1'.repeat(5_000),
  `0.${'0'.repeat(5_000)}1`,
  `1e${'9'.repeat(300)}`,
  'NaN',
  'Infinity',
  '999999999999Ei',
  '1m',
  '0.5',
] as const;

export const numbers: readonly Tree[] = [
  0,
  -1,
  -0,
  1,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e308,
  1.5,
  -0.5,
  1e-300,
  new Raw('.nan'),
  new Raw('.inf'),
  new Raw('-.inf'),
  new Raw('1e999999'),
  new Raw('9223372036854775807'),
  new Raw('0x7fffffffffffffff'),
  new Raw('0o17'),
  new Raw('017'),
  new Raw('1_000'),
  new Raw('0b11'),
  new Raw('1:30:00'),
  new Raw('+1'),
  new Raw('9'.repeat(4_000)),
];

const otherTypes: readonly Tree[] = [
  null,
  true,
  [],
  {},
  [[]],
  [null],
  { a: null },
  '',
  'true',
  '0',
  new Raw('~'),
  new Raw('yes'),
  new Raw('2001-12-14t21:59:43.10-05:00'),
  new Raw('!!binary "aGFsbG8="'),
  new Raw('!!set {a, b}'),
  new Raw('!!js/function "function () { return 1 }"'),
  new Raw('!!python/object/apply:os.system ["id"]'),
];

export const hostileText = (dice: Dice): string =>
  dice.chance(0.35)
    ? dice.pick(traversals)
    : dice.chance(0.4)
      ? dice.pick(unicodes)
      : dice.chance(0.4)
        ? longTexts(dice)
        : dice.pick([
            ...prototypeKeys,
            ...quantities,
            'null',
            'on',
            '-',
            '$(A)',
            '$$(A)',
            '{{.}}',
            '*',
            '<nil>',
            'None',
          ]);

/** Something of the kind that stands there, or of any other. */
export function hostileValue(dice: Dice, present: Tree): Tree {
  if (typeof present === 'number' && dice.chance(0.7)) return dice.pick(numbers);
  if (typeof present === 'string' && dice.chance(0.7)) return hostileText(dice);
  return dice.pick([dice.pick(otherTypes), dice.pick(numbers), hostileText(dice), deep(dice, dice.pick([3, 50, 150]))]);
}

/** A list in a list in a list, or the same of mappings. */
export function deep(dice: Dice, depth: number): Tree {
  const isList = dice.chance(0.5);
  let tree: Tree = 'bottom';
  for (let at = 0; at < depth; at++) tree = isList ? [tree] : { a: tree };
  return tree;
}
