import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { describeChanges } from './pod-view.ts';
import type { PodRow } from './pod-row.ts';
import { PodView, type Screen } from './pod-view.ts';
import { redraw } from './pod-view.ts';
import { formatSeconds, StepPrinter } from './steps.ts';
import { clip, sortRows, tableLines } from './table.ts';

const row = (name: string, more: Partial<PodRow> = {}): PodRow => ({
  namespace: 'default',
  name,
  ready: '1/1',
  status: 'Running',
  restarts: '0',
  age: '5s',
  ip: '10.0.0.2',
  ...more,
});

test('columns are as wide as their widest cell', () => {
  assert.deepEqual(tableLines([row('a'), row('longer-name', { status: 'CrashLoopBackOff', ip: '<none>' })]), [
    'NAMESPACE   NAME          READY   STATUS             RESTARTS   AGE   IP',
    'default     a             1/1     Running            0          5s    10.0.0.2',
    'default     longer-name   1/1     CrashLoopBackOff   0          5s    <none>',
  ]);
});

test('rows are sorted by namespace, then name', () => {
  const rows = [row('b'), row('z', { namespace: 'a' }), row('a')];
  assert.deepEqual(
    sortRows(rows).map((each) => each.name),
    ['z', 'a', 'b'],
  );
});

test('clip keeps what fits and marks what does not', () => {
  assert.deepEqual(
    ['abc', 'abcd', 'äöüß'].map((line) => clip(line, 3)),
    ['abc', 'ab…', 'äö…'],
  );
  assert.deepEqual(
    [1, 0, -1].map((width) => clip('abc', width)),
    ['a', '', ''],
  );
});

const tokens = new RegExp(`${String.fromCodePoint(27)}\\[\\d*[A-Z]|[^]`, 'gu');

/** What a terminal shows after the output: enough of one to check frames. */
function emulate(output: string, width: number): string[] {
  const lines: string[] = [''];
  let y = 0;
  let x = 0;
  for (const [token] of output.matchAll(tokens)) {
    const line = lines[y] ?? '';
    if (token === '\n') {
      y++;
      lines[y] ??= '';
    } else if (token === '\r') x = 0;
    else if (token.endsWith('A') && token.length > 1) y -= Number(token.slice(2, -1));
    else if (token === '\u001B[K') lines[y] = line.slice(0, x);
    else if (token === '\u001B[J') lines.splice(y, lines.length, line.slice(0, x));
    else {
      lines[y] = line.slice(0, x).padEnd(x) + token + line.slice(x + 1);
      x++;
      assert.ok(x < width, 'nothing may reach the last column');
    }
    assert.ok(y >= 0, 'the cursor left the screen');
  }
  return lines.slice(0, -1);
}

test('a frame replaces the former one, whether it is shorter, narrower or longer', () => {
  const frames = [['header', 'a long line of text', 'third'], ['header', 'short'], ['x'], ['1', '2', '3', '4']];
  let output = '';
  let drawn = 0;
  for (const lines of frames) {
    const frame = redraw(drawn, lines, 40, 24);
    output += frame.output;
    drawn = frame.lines;
    assert.deepEqual(emulate(output, 40), lines);
  }
});

test('a frame keeps within the terminal', () => {
  const frame = redraw(0, ['aaaaaaaaaa', 'b', 'c', 'd', 'e'], 5, 4);
  assert.equal(frame.lines, 3);
  assert.deepEqual(emulate(frame.output, 5), ['aaa…', 'b', '… 3…']);
});

test('plain lines: one for each pod that changed, none for age', () => {
  const first = describeChanges(new Map(), [row('a'), row('b', { status: 'Pending' })]);
  assert.deepEqual(first.lines, [
    'pod default/a: Running, ready 1/1, restarts 0, ip 10.0.0.2',
    'pod default/b: Pending, ready 1/1, restarts 0, ip 10.0.0.2',
  ]);
  const second = describeChanges(first.shown, [row('a', { age: '6s' }), row('b', { restarts: '1 (3s ago)' })]);
  assert.deepEqual(second.lines, ['pod default/b: Running, ready 1/1, restarts 1, ip 10.0.0.2']);
  const third = describeChanges(second.shown, [row('b', { restarts: '1 (9s ago)' })]);
  assert.deepEqual(third.lines, ['pod default/a: gone']);
  assert.deepEqual(describeChanges(third.shown, [row('b', { restarts: '1 (10s ago)' })]).lines, []);
});

function screen(isTerminal: boolean): Screen & { text: () => string } {
  let text = '';
  return {
    isTerminal,
    size: () => ({ width: 100, height: 24 }),
    write: (more) => {
      text += more;
    },
    text: () => text,
  };
}

test('the view draws in place on a terminal, with what is said above the table', () => {
  const terminal = screen(true);
  const view = new PodView(terminal);
  view.show([], []);
  view.show([row('a')], ['footer']);
  view.say('ready');
  view.show([row('a', { age: '6s' })], []);
  assert.deepEqual(emulate(terminal.text(), 100), [
    'ready',
    'NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE   IP',
    'default     a      1/1     Running   0          6s    10.0.0.2',
  ]);
});

test('the view writes plain lines elsewhere', () => {
  const file = screen(false);
  const view = new PodView(file);
  view.show([row('a')], ['footer']);
  view.show([row('a', { age: '6s' })], ['footer']);
  view.say('ready');
  assert.equal(file.text(), 'pod default/a: Running, ready 1/1, restarts 0, ip 10.0.0.2\nready\n');
});

async function steps(isTerminal: boolean): Promise<string> {
  const clock = new FakeClock();
  const out = screen(isTerminal);
  const printer = new StepPrinter(out, clock);
  printer.note('hello');
  const result = printer.step('making', async (progress) => {
    progress('half');
    await clock.sleep(800);
    return 7;
  });
  await clock.advance(800);
  assert.equal(await result, 7);
  await assert.rejects(
    printer.step('breaking', () => Promise.reject(new Error('no room'))),
    /no room/,
  );
  return out.text();
}

test('steps: one line each, with duration or reason', async () => {
  assert.deepEqual(emulate(await steps(true), 100), ['hello', '✓ making: 0.8 s', '✗ breaking: no room']);
  assert.match(await steps(true), /… making: half/);
  assert.equal(await steps(false), 'hello\nmaking: done in 0.8 s\nbreaking: failed: no room\n');
});

const durations: readonly [ms: number, text: string][] = [
  [0, '0 ms'],
  [99, '99 ms'],
  [100, '0.1 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_400, '59 s'],
  [125_000, '2 min 5 s'],
];
for (const [ms, text] of durations) {
  test(`formatSeconds: ${ms} ms is ${text}`, () => assert.equal(formatSeconds(ms), text));
}
