import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countChanges, classifyEntry, type EntryEvent, type EntryState } from './entry-events.ts';

/** `a` an entry that was added, removed or replaced; `a*` one that was written to. */
const events = (text: string): readonly EntryEvent[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ({ name: word.replace('*', ''), kind: word.endsWith('*') ? 'content' : 'entry' }));

const cases: Readonly<Record<string, readonly [events: string, known: string, there: string, counts: string]>> = {
  'nothing happened': ['', 'a', 'a', ''],
  'written in place': ['a* a*', 'a', 'a', ''],
  deleted: ['a', 'a', '', 'a1'],
  'deleted and made again': ['a a a*', 'a', 'a', 'a2'],
  'a rename over it from elsewhere': ['a', 'a', 'a', 'a1'],
  'a rename over it from within the folder': ['.a.new .a.new* .a.new a', 'a', 'a', '.a.new2'],
  'two of those in a row': ['.n .n* .n a .n .n* .n a', 'a', 'a', '.n4'],
  'moved away and back': ['a .b .b a', 'a', 'a', 'a2 .b2'],
  'deleted, then made by a rename within the folder': ['a .n .n* .n a', 'a', 'a', 'a2 .n2'],
  'two deleted, and both made again': ['a b a a* b b*', 'a b', 'a b', 'a2 b2'],
  'two deleted, one made again': ['a b a a*', 'a b', 'a', 'a2 b1'],
  'one manifest takes the place of another': ['b a', 'a b', 'a', 'b1 a1'],
};

for (const [name, [reported, known, there, expected]] of Object.entries(cases)) {
  test(`changes of names: ${name}`, () => {
    const counts = countChanges(events(reported), {
      wasKnown: (entry) => known.split(' ').includes(entry),
      isThere: (entry) => there.split(' ').includes(entry),
    });
    assert.equal([...counts].map(([entry, count]) => `${entry}${count}`).join(' '), expected);
  });
}

/** Readings in their order: which file is there, how many changes its name had since the one before, and when. */
type Seen = readonly [identity: string, changes: number, now?: number];
const readings: Readonly<Record<string, readonly [readings: readonly Seen[], removed: string]>> = {
  'first seen, its event late': [
    [
      ['1', 0],
      ['1', 1],
    ],
    'no no',
  ],
  'deleted and made again': [
    [
      ['1', 0],
      ['2', 2],
    ],
    'no yes',
  ],
  'the second event is late': [
    [
      ['1', 0],
      ['2', 1],
      ['2', 1],
    ],
    'no no yes',
  ],
  'both events are late': [
    [
      ['1', 0],
      ['2', 0],
      ['2', 2],
    ],
    'no no yes',
  ],
  'renamed over, again and again': [
    [
      ['1', 0],
      ['2', 1],
      ['3', 1],
      ['4', 1],
    ],
    'no no no no',
  ],
  'renamed over, the event late': [
    [
      ['1', 0],
      ['2', 0],
      ['2', 1],
      ['3', 1],
    ],
    'no no no no',
  ],
  'moved away and back: the same file': [
    [
      ['1', 0],
      ['1', 2],
    ],
    'no yes',
  ],
  'a link renamed over by one to the same file, every hour': [
    [
      ['1', 0],
      ['1', 1, 3_600_000],
      ['1', 1, 7_200_000],
    ],
    'no no no',
  ],
  'removed twice between two readings is once': [
    [
      ['1', 0],
      ['3', 4],
      ['3', 0],
    ],
    'no yes no',
  ],
};

for (const [name, [seen, expected]] of Object.entries(readings)) {
  test(`an entry: ${name}`, () => {
    let state: EntryState | undefined;
    const answers = seen.map(([identity, changes, now = 0]) => {
      const classified = classifyEntry(state, { identity, changes, now });
      ({ state } = classified);
      return classified.wasRemoved ? 'yes' : 'no';
    });
    assert.equal(answers.join(' '), expected);
  });
}
