import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Masked } from '../../base/masked.ts';
import { makeCredential, nodeSource, type Credential, type CredentialSource } from '../credentials/credential.ts';
import { shownBy, type PullCredentials, type PulledRecord } from './pull-record.ts';
import { computeAccess, isOpen, type VerificationPolicy } from './verification.ts';

const repository = 'a.example/team/app';
const record: PulledRecord = { lastUpdatedTime: '2025-01-01T00:00:00Z', imageRef: 'sha256:1', credentialMapping: {} };
const secret = (name: string, uid = '1', namespace = 'ns'): CredentialSource => ({
  kind: 'secret',
  uid,
  namespace,
  name,
});
const credential = (password: string, source: CredentialSource): Credential =>
  makeCredential(new Masked({ username: 'u', password }), source);

describe('which images are open to every pod', () => {
  const table: readonly (readonly [policy: VerificationPolicy, allowlist: string[], ours: boolean, open: boolean])[] = [
    ['NeverVerify', [], true, true],
    ['NeverVerify', [], false, true],
    ['NeverVerifyPreloadedImages', [], true, false],
    ['NeverVerifyPreloadedImages', [], false, true],
    ['AlwaysVerify', [], true, false],
    ['AlwaysVerify', [], false, false],
    ['NeverVerifyAllowlistedImages', [], false, false],
    ['NeverVerifyAllowlistedImages', ['a.example/team/app'], true, true],
    ['NeverVerifyAllowlistedImages', ['a.example/team/*'], true, true],
    ['NeverVerifyAllowlistedImages', ['a.example/*'], false, true],
    ['NeverVerifyAllowlistedImages', ['a.example/team'], false, false],
    ['NeverVerifyAllowlistedImages', ['a.example/te/*'], false, false],
    ['NeverVerifyAllowlistedImages', ['a.example/team/ap', 'b.example/*'], false, false],
    ['AlwaysVerify', ['a.example/team/app'], false, false],
  ];
  for (const [policy, allowlist, ours, open] of table) {
    test(`${policy} ${allowlist.join(' ')}, ${ours ? 'pulled by us' : 'there before'}: ${open ? 'open' : 'not'}`, () => {
      for (const known of ours
        ? [
            { record, intended: false },
            { record: undefined, intended: true },
          ]
        : [{ record: undefined, intended: false }]) {
        assert.equal(isOpen({ policy, allowlist }, { repository, ...known }), open);
      }
    });
  }

  test('short names in the list mean the same as long ones', () => {
    const rule = { policy: 'NeverVerifyAllowlistedImages', allowlist: ['busybox'] } as const;
    const known = { repository: 'docker.io/library/busybox', record: undefined, intended: false };
    assert.equal(isOpen(rule, known), true);
  });
});

describe('who may use an image that is not open', () => {
  const access = (known: PullCredentials | undefined, ...credentials: readonly Credential[]) => {
    const mapping = known === undefined ? { 'b.example/app': { nodePodsAccessible: true } } : { [repository]: known };
    return computeAccess(
      { repository, record: { ...record, credentialMapping: mapping }, intended: false },
      credentials,
    );
  };
  const mine = credential('p', secret('mine'));
  const account: CredentialSource = { kind: 'serviceAccount', uid: '1', namespace: 'ns', name: 'bot' };

  test('unknown', () => {
    const none = { repository, record: undefined, intended: true };
    assert.deepEqual(computeAccess(none, [mine]), { kind: 'mustPull' });
    assert.deepEqual(access(undefined, mine), { kind: 'mustPull' }, 'another name may be open, not this one');
    assert.deepEqual(access({}, mine), { kind: 'mustPull' });
  });

  test('all pods, when the node itself could have it', () => {
    assert.deepEqual(access({ nodePodsAccessible: true }), { kind: 'shown' });
  });

  test('pods with the secret that pulled it', () => {
    assert.deepEqual(access(shownBy(mine), mine), { kind: 'shown' });
    assert.deepEqual(access(shownBy(mine)), { kind: 'mustPull' });
    assert.deepEqual(access(shownBy(mine), credential('other', secret('other'))), { kind: 'mustPull' });
    assert.deepEqual(access(shownBy(mine), credential('other', secret('other')), mine), { kind: 'shown' });
  });

  test('pods with the same credential in another secret; that is recorded', () => {
    const copy = credential('p', secret('copy', '2', 'ns2'));
    assert.deepEqual(access(shownBy(mine), copy), { kind: 'shown', remember: shownBy(copy) });
  });

  test('pods with the same secret with another credential in it; that is recorded', () => {
    const changed = credential('new', secret('mine'));
    assert.deepEqual(access(shownBy(mine), changed), { kind: 'shown', remember: shownBy(changed) });
    const recreated = credential('new', secret('mine', '2'));
    assert.deepEqual(access(shownBy(mine), recreated), { kind: 'mustPull' }, 'another secret of the same name');
  });

  test('a record that is full is not added to', () => {
    const { credentialHash } = shownBy(mine).kubernetesSecrets?.[0] ?? assert.fail();
    const kubernetesSecrets = Array.from({ length: 100 }, (_, n) => ({
      uid: `${n}`,
      namespace: 'x',
      name: 'y',
      credentialHash,
    }));
    assert.deepEqual(access({ kubernetesSecrets }, mine), { kind: 'shown' });
  });

  test('pods of the account that pulled it', () => {
    const bot = credential('p', account);
    assert.deepEqual(access(shownBy(bot), credential('q', account)), { kind: 'shown' });
    assert.deepEqual(access(shownBy(bot), mine), { kind: 'mustPull' });
    assert.deepEqual(access(shownBy(mine), bot), { kind: 'mustPull' });
  });

  test('no pods with only the node’s credentials', () => {
    assert.deepEqual(access(shownBy(mine), credential('p', nodeSource)), { kind: 'mustPull' });
  });
});
