import type { Dice } from '../../simulation/dice.ts';
import { file, fileName, filesOf, type Made } from './case.ts';
import { textOf, type Mapping } from './tree.ts';
import { settingsObject, validPod } from './valid-pods.ts';
import { unicodes } from './words.ts';

const podText = (dice: Dice): string => textOf(validPod(dice, false), dice.pick(['json', 'block', 'flow']));

/** The bytes of a good manifest, damaged. */
export function bytesCase(dice: Dice): Made {
  const whole = Buffer.from(podText(dice));
  const damages = {
    truncate: () => whole.subarray(0, dice.whole(0, whole.length - 1)),
    flip: () => {
      for (let at = dice.pick([1, 1, 3, 30]); at > 0; at--) {
        const index = dice.whole(0, whole.length - 1);
        whole[index] = (whole[index] ?? 0) ^ (1 << dice.whole(0, 7));
      }
      return whole;
    },
    insert: () => {
      const at = dice.whole(0, whole.length);
      const what = Buffer.from(
        dice.pick([
          ...unicodes,
          '\t',
          '\0',
          '{',
          '}',
          ']',
          '- ',
          ': ',
          '#',
          '"',
          "'",
          '|',
          '>',
          '&a ',
          '*a ',
          '%',
          '`',
          '@',
        ]),
      );
      return Buffer.concat([whole.subarray(0, at), what, whole.subarray(at)]);
    },
    swap: () => {
      const [one, other] = [dice.whole(0, whole.length), dice.whole(0, whole.length)].toSorted((a, b) => a - b);
      return Buffer.concat([whole.subarray(0, one), whole.subarray(other), whole.subarray(one, other)]);
    },
    utf16: () => Buffer.from(`\ufeff${whole.toString()}`, 'utf16le'),
    notText: () => Buffer.concat([whole, Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80])]),
    mark: () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), whole]),
    noise: () => Buffer.from(Array.from({ length: dice.whole(0, 2_000) }, () => dice.whole(0, 255))),
    endings: () =>
      Buffer.from(whole.toString().replaceAll('\n', dice.pick(['\r\n', '\r', '\n\r', '\u0085', '\u2028']))),
    tabs: () => Buffer.from(whole.toString().replaceAll('  ', '\t')),
    empty: () =>
      Buffer.from(
        dice.pick(['', '\n', '---\n', '---\n---\n...', '# nothing\n', '\0', ' ', 'null', '~', '{}', '[]', '0']),
      ),
  } as const;
  const weights = {
    truncate: 10,
    flip: 8,
    insert: 5,
    swap: 3,
    utf16: 1,
    notText: 1,
    mark: 1,
    noise: 1,
    endings: 2,
    tabs: 1,
    empty: 2,
  };
  return { files: [file(fileName(dice), damages[dice.weighted(weights)]())] };
}

const head = 'apiVersion: v1\nkind: Pod\nmetadata: {name: yamlish}\n';
const plainSpec = 'spec:\n  containers:\n  - {name: c, image: localhost/test/busybox:1}\n';

/** Aliases of aliases: each level stands for ten of the one below. */
function aliasBomb(levels: number, width: number, item: string): string {
  const lines = [`l0: &l0 [${Array.from({ length: width }, () => item).join(', ')}]`];
  for (let level = 1; level <= levels; level++)
    lines.push(`l${level}: &l${level} [${Array.from({ length: width }, () => `*l${level - 1}`).join(', ')}]`);
  return lines.join('\n');
}

/** What YAML can do and JSON cannot. */
export function yamlCase(dice: Dice): Made {
  const texts: readonly (() => string)[] = [
    () => `${head}${plainSpec}${aliasBomb(dice.pick([2, 6, 9, 30]), 10, 'lol')}\n`,
    () => `${head}${aliasBomb(5, 10, '{a: b}')}\nspec:\n  containers: *l5\n`,
    () => `${head}spec: &s\n  containers:\n  - {name: c, image: i}\n  affinity: *s\n`,
    () =>
      `base: &b {image: localhost/test/busybox:1}\n${head}spec:\n  containers:\n  - {<<: *b, name: c}\n  - {<<: [*b, *b], name: d}\n`,
    () =>
      `${head}spec:\n  containers: &c\n  - &p {name: c, image: i}\n  - {<<: *p, name: d, env: ${'[{<<: *p}, '.repeat(40)}${']'.repeat(40)}}\n`,
    () =>
      Array.from(
        { length: dice.pick([3, 50, 500]) },
        (_, at) => `---\n${head.replace('yamlish', `many-${at}`)}${at < 5 ? plainSpec : ''}`,
      ).join(''),
    () => `%YAML 1.2\n%TAG ! tag:example.com,2000:\n---\n${head}${plainSpec}...\n%YAML 9.9\n---\n${head}`,
    () => `${'%A b\n'.repeat(2_000)}---\n${head}${plainSpec}`,
    () => `!!js/function "function () {}"\n---\n${head}${plainSpec}`,
    () => `${head}spec: !!js/undefined ''\n`,
    () => `${head}spec: !!python/object/apply:os.system ["id"]\n`,
    () => `${head}spec:\n\tcontainers:\n\t- name: c\n`,
    () => `${head}${plainSpec}  hostname: |2+\n      a\n\n\n  subdomain: >-\n      b\n       c\n`,
    () => `? [a, b]\n: c\n? {d: e}\n: f\n${head}${plainSpec}`,
    () => `${head}${plainSpec}"a\\x00\\u0000\\U0010ffff\\ud800": "\\ud800"\n`,
    () => '['.repeat(dice.pick([150, 199, 201, 5_000, 100_000])),
    () => '{a: '.repeat(dice.pick([150, 199, 201, 5_000, 50_000])),
    () => `${'- '.repeat(dice.pick([150, 199, 201, 3_000]))}a\n`,
    () => `${'&a '.repeat(5_000)}b`,
    () => `${'!!str '.repeat(5_000)}b`,
    () => `a: ${'*a '.repeat(3_000)}`,
    () =>
      `${head}${plainSpec}${Array.from({ length: dice.pick([100, 5_000]) }, (_, at) => `k${at}: &k${at} ${at}\n`).join('')}`,
    () => `${head}${plainSpec}${'# comment\n'.repeat(20_000)}`,
    () => `${head}${plainSpec}${' '.repeat(200_000)}\n`,
    () => `${head}${plainSpec}x: "${'\\\n'.repeat(20_000)}"\n`,
    () => `${head}${plainSpec}x: '${"''".repeat(50_000)}\n`,
    () => `${head}${plainSpec}<<: *nothing\n`,
    () => `${head}${plainSpec}<<: 5\n<<: [5]\n<<: {a: b}\n`,
    () => `__proto__: {apiVersion: v1, kind: Pod}\n<<: {__proto__: {polluted: yes}}\n`,
    () =>
      `${head}__proto__:\n  spec:\n    containers: []\nspec:\n  __proto__: {hostNetwork: true}\n  containers:\n  - {name: c, image: i, __proto__: {securityContext: {privileged: true}}}\n`,
    () =>
      `${head}spec:\n  containers:\n  - name: c\n    image: i\n    env:\n${Array.from({ length: 2_000 }, (_, at) => `    - {name: E${at}, value: &v${at} "x"}\n`).join('')}`,
    () =>
      `${head}${plainSpec}when: 9999999999-99-99T99:99:99Z\nx: 0x${'f'.repeat(10_000)}\ny: ${'1'.repeat(50_000)}\nz: 1e${'9'.repeat(400)}\n`,
  ];
  return { files: [file(fileName(dice), dice.pick(texts)())] };
}

/** Files by themselves: what they are called, how many they are, how large. */
export function folderCase(dice: Dice): Made {
  const pod = validPod(dice, false);
  const named = (name: string): Mapping => ({ ...pod, metadata: { ...pod.metadata, name } });
  const choice = dice.pick(['names', 'many', 'large', 'lines'] as const);
  switch (choice) {
    case 'names':
      return {
        files: [
          '.hidden.yaml',
          'x.YAML',
          'x.yaml.bak',
          '__proto__.yaml',
          'constructor.json',
          `${'n'.repeat(250)}.yml`,
          '\u202etxt.yaml',
          '..yaml',
          '-rf.json',
          '\n.yaml',
          '$(HOME).yaml',
        ].map((name, at) => file(name, textOf(named(`named-${at}`), 'json'))),
      };
    case 'many':
      return {
        files: Array.from({ length: 100 }, (_, at) =>
          file(
            `m-${at}.yaml`,
            at % 10 === 0 ? textOf(named(`many-${at}`), 'flow') : dice.pick(['', '{', 'a: b', '\0']),
          ),
        ),
      };
    case 'large':
      return {
        files: [
          file(
            'l.yaml',
            Buffer.alloc(dice.pick([300_000, 10 * 2 ** 20 + 1]), dice.pick(['a', ' ', '\n', '#', '[', '- a\n', '"'])),
          ),
        ],
      };
    case 'lines':
      return {
        files: [
          ...filesOf(dice, [
            settingsObject(Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`k${at}`, 'v']))),
          ]),
          file('q.json', textOf(named('q'), 'json')),
        ],
      };
    default:
      return choice satisfies never;
  }
}
