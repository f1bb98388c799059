import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseLogLine } from './cri-log-line.ts';

const parsed = (text: string): unknown => {
  const line = parseLogLine(Buffer.from(text));
  return line && { ...line, content: line.content.toString() };
};
const time = '2026-01-01T00:00:00.000000000Z';

describe('a log line', () => {
  const good: readonly (readonly [string, object])[] = [
    [`${time} stdout F text of it`, { time, stream: 'stdout', partial: false, content: 'text of it' }],
    [`${time} stderr P half`, { time, stream: 'stderr', partial: true, content: 'half' }],
    [`${time} stdout F `, { time, stream: 'stdout', partial: false, content: '' }],
    [`${time} stdout F`, { time, stream: 'stdout', partial: false, content: '' }],
    [`${time} stdout P:more:tags  x`, { time, stream: 'stdout', partial: true, content: ' x' }],
    [
      '2026-01-01T02:00:00.5+02:00 stdout F x',
      { time: '2026-01-01T02:00:00.5+02:00', stream: 'stdout', partial: false, content: 'x' },
    ],
  ];
  for (const [text, line] of good) test(`is read: ${text}`, () => assert.deepEqual(parsed(text), line));

  const bad = [
    '',
    'text',
    `${time} stdout`,
    `${time} stdin F x`,
    `${time} stdout X x`,
    'now stdout F x',
    `${time}  F x`,
  ];
  for (const text of bad) test(`is none: "${text}"`, () => assert.equal(parsed(text), undefined));

  test('keeps whatever bytes it holds', () => {
    const content = Buffer.from([0xff, 0x20, 0x00, 0xc3]);
    const line = Buffer.concat([Buffer.from(`${time} stderr P `), content]);
    assert.deepEqual(parseLogLine(line), { time, stream: 'stderr', partial: true, content });
  });
});
