import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './nearest.ts';

const words = ['maxPods', 'max-open-files', 'readOnlyPort', 'port', 'clusterDNS', 'config', 'config-dir', 'v'];

test('plausible slips are recognised', () => {
  const table: readonly (readonly [string, string])[] = [
    ['MaxPods', 'maxPods'],
    ['max_pods', 'maxPods'],
    ['maxPodz', 'maxPods'],
    ['mxaPods', 'maxPods'],
    ['maxPod', 'maxPods'],
    ['prot', 'port'],
    ['clusterDns', 'clusterDNS'],
    ['readonlyport', 'readOnlyPort'],
    ['confg', 'config'],
    ['config', 'config'],
  ];
  for (const [word, expected] of table) assert.equal(nearest(word, words), expected, word);
});

test('strangers get no suggestion', () => {
  for (const word of ['', 'zebra', 'somethingElseEntirely', 'x', 'xy'])
    assert.equal(nearest(word, words), undefined, word);
  assert.equal(nearest('port', []), undefined);
});
