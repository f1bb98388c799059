import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTlsVerdict } from './tls-verdict.ts';
import type { ChainVerdict } from './verify-chain.ts';

const subject = { commonName: 'ann', organizations: [], uid: undefined };
const good = (...tlsObjections: readonly string[]): ChainVerdict => ({
  trusted: true,
  tlsObjections,
  subject,
  notAfterMs: 1,
  untilMs: 1,
});
const bad: ChainVerdict = { trusted: false, reason: 'expired' };

test('both have to find it good', () => {
  const table: readonly (readonly [ChainVerdict, string | undefined, string])[] = [
    [good(), 'ok', 'trusted'],
    [good(), 'CERT_HAS_EXPIRED', 'the TLS library does not take it: CERT_HAS_EXPIRED'],
    [good(), 'INVALID_PURPOSE', 'the TLS library does not take it: INVALID_PURPOSE'],
    [good(), undefined, 'the TLS library does not take it: none'],
    [good('INVALID_PURPOSE'), 'ok', 'trusted'],
    [good('INVALID_PURPOSE'), 'INVALID_PURPOSE', 'trusted'],
    [
      good('INVALID_PURPOSE'),
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'the TLS library does not take it: UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ],
    [bad, 'ok', 'expired'],
    [bad, 'INVALID_PURPOSE', 'expired'],
  ];
  for (const [verdict, tlsVerdict, wanted] of table) {
    const result = withTlsVerdict(verdict, tlsVerdict);
    assert.equal(result.trusted ? 'trusted' : result.reason, wanted, `${tlsVerdict}`);
  }
});
