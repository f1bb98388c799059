import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filesAfter, newestStamp, rotatedFiles, type HeldFile } from './rotated-files.ts';

const stamp = (day: number): string => `2026010${day}-000000`;
const plain = (day: number): string => `0.log.${stamp(day)}`;
const packed = (day: number): string => `${plain(day)}.gz`;

describe('rotated files', () => {
  test('are those with a stamp, by age, each once and plain before compressed', () => {
    const names = [
      plain(3),
      '0.log',
      packed(1),
      packed(3),
      plain(2),
      `${plain(4)}.tmp`,
      '0.log.old',
      '10.log',
      `1${plain(5)}`,
    ];
    assert.deepEqual(
      rotatedFiles('0.log', names).map(({ name }) => name),
      [packed(1), plain(2), plain(3)],
    );
    assert.equal(newestStamp(rotatedFiles('0.log', names)), stamp(3));
    assert.equal(newestStamp([]), '');
  });
});

describe('after the file that is held come', () => {
  const held: HeldFile = { kind: 'current', identity: 'mine', newestBefore: stamp(1) };
  const cases: readonly (readonly [
    string,
    HeldFile,
    readonly string[],
    Readonly<Record<string, string>>,
    readonly string[],
  ])[] = [
    ['none, when it was just put aside', held, [plain(1), plain(2)], { [plain(2)]: 'mine' }, []],
    ['none, when nothing was', held, [packed(1)], {}, []],
    ['those put aside later', held, [plain(2), plain(3), plain(4)], { [plain(2)]: 'mine' }, [plain(3), plain(4)]],
    [
      'those after it, also when it is compressed',
      held,
      [packed(1), packed(2), plain(3)],
      { [plain(3)]: 'other' },
      [plain(3)],
    ],
    ['compressed ones too', held, [packed(2), packed(3), plain(4)], {}, [packed(3), plain(4)]],
    ['all later ones when it was removed', held, [plain(3), plain(4)], { [plain(3)]: 'other' }, [plain(3), plain(4)]],
    [
      'those of greater stamp when its own is known',
      { kind: 'rotated', stamp: stamp(2) },
      [packed(1), plain(2), packed(3), plain(4)],
      {},
      [packed(3), plain(4)],
    ],
  ];
  for (const [name, file, names, identities, expected] of cases) {
    test(name, () => {
      const later = filesAfter(file, rotatedFiles('0.log', names), (other) => identities[other]);
      assert.deepEqual(
        later.map((rotated) => rotated.name),
        expected,
      );
    });
  }
});
