import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { StartErrors } from './start-errors.ts';

const [a, b] = [podUid('a'), podUid('b')];
const error = (reason: string) => ({ reason, message: `because of ${reason}` });

test('the last reason of each container, until it starts', () => {
  const errors = new StartErrors();
  errors.set(a, 'main', error('ErrImagePull'));
  errors.set(a, 'side', error('CreateContainerError'));
  errors.set(a, 'main', error('ImagePullBackOff'));
  assert.deepEqual(Object.fromEntries(errors.of(a)), {
    main: error('ImagePullBackOff'),
    side: error('CreateContainerError'),
  });
  errors.clear(a, 'main');
  assert.deepEqual([...errors.of(a).keys()], ['side']);
});

test('pods do not share, and a pod that was removed leaves nothing', () => {
  const errors = new StartErrors();
  errors.set(a, 'main', error('A'));
  errors.set(b, 'main', error('B'));
  errors.forget(a);
  assert.equal(errors.of(a).size, 0);
  assert.deepEqual(errors.of(b).get('main'), error('B'));
});

test('what was never there can be cleared and forgotten', () => {
  const errors = new StartErrors();
  errors.clear(a, 'main');
  errors.forget(a);
  assert.equal(errors.of(a).size, 0);
});

test('a message is cut to what a status should carry', () => {
  const errors = new StartErrors();
  errors.set(a, 'c', { reason: 'r', message: 'x'.repeat(1024 * 1024) });
  assert.equal(errors.of(a).get('c')?.message.length, 40 * 1024);
});
