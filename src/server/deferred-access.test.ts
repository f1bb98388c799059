import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKind } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import { DeferredAccess } from './deferred-access.ts';

const caller: Caller = { name: 'admin', groups: [] };
const { signal } = new AbortController();

test('no caller is let in before it is known who decides; then that decides', async () => {
  const access = new DeferredAccess({ fineGrained: true, upstreamVerbs: false });
  assert.deepEqual([access.fineGrained, access.upstreamVerbs], [true, false]);
  const starting = (error: unknown): boolean => isKind(error, 'unavailable') && /is starting/.test(String(error));
  await assert.rejects(access.authenticator.authenticate({}, signal), starting);
  await assert.rejects(access.authorizer.authorize(caller, { verb: 'get', subresource: 'pods' }, signal), starting);
  access.setAccess({
    authenticator: { authenticate: async () => caller },
    authorizer: { authorize: async (_who, { subresource }) => ({ allowed: subresource === 'pods' }) },
  });
  assert.equal(await access.authenticator.authenticate({}, signal), caller);
  for (const [subresource, allowed] of [
    ['pods', true],
    ['proxy', false],
  ] as const) {
    assert.deepEqual(await access.authorizer.authorize(caller, { verb: 'get', subresource }, signal), { allowed });
  }
});
