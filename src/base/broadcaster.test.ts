import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Broadcaster } from './broadcaster.ts';

test('every listener hears all that is broadcast after it registered, in order', () => {
  const news = new Broadcaster<string>();
  const heard: string[] = [];
  news.broadcast('too early');
  news.listen((word) => void heard.push(`one ${word}`));
  news.listen((word) => void heard.push(`two ${word}`));
  news.broadcast('a');
  news.broadcast('b');
  assert.deepEqual(heard, ['one a', 'two a', 'one b', 'two b']);
});
