import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../base/ids.ts';
import { dnsLimits, parseResolvConf, podDns } from './dns.ts';

const words = fc.array(fc.stringMatching(/^[a-z]{1,90}(\.[a-z]{1,90}){0,3}$/), { maxLength: 50 });
const policy = fc.constantFrom('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None');

test('whatever is asked for, a resolver can take the result, and cutting is reported', () => {
  fc.assert(
    fc.property(
      words,
      words,
      words,
      policy,
      fc.boolean(),
      (servers, hostSearches, searches, dnsPolicy, hostNetwork) => {
        const { config, events } = podDns({
          pod: {
            name: 'p',
            namespace: 'n',
            uid: podUid('u'),
            spec: { containers: [], dnsPolicy, hostNetwork, dnsConfig: { nameservers: servers, searches } },
          },
          clusterDns: ['10.0.0.10'],
          clusterDomain: 'cluster.local',
          resolvConf: '/etc/resolv.conf',
          hostDns: { servers, searches: hostSearches, options: [] },
        });
        assert.ok(config.servers.length <= dnsLimits.nameservers);
        assert.ok(config.searches.length <= dnsLimits.searches);
        assert.ok(config.searches.join(' ').length <= dnsLimits.searchCharacters);
        assert.ok(config.searches.every((domain) => domain.length <= dnsLimits.domainCharacters));
        assert.equal(new Set(config.searches).size, config.searches.length);
        if (new Set(servers).size > 3) assert.ok(events.length > 0);
      },
    ),
  );
});

test('any text can be parsed', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.ok(!parseResolvConf(text).searches.includes('.'));
    }),
  );
});
