import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { completeImageName, fullRepository } from './image-name.ts';

const sha = `sha256:${'a1'.repeat(32)}`;

describe('names that are complete or can be completed', () => {
  const table: Readonly<Record<string, string>> = {
    busybox: 'busybox:latest',
    'busybox:1.36': 'busybox:1.36',
    'library/busybox': 'library/busybox:latest',
    'localhost/test/busybox:1': 'localhost/test/busybox:1',
    'localhost:5000/busybox': 'localhost:5000/busybox:latest',
    '127.0.0.1:9/none:1': '127.0.0.1:9/none:1',
    '[2001:db8::1]:5000/a/b': '[2001:db8::1]:5000/a/b:latest',
    'registry.k8s.io/pause:3.10': 'registry.k8s.io/pause:3.10',
    'Registry.Example.COM/app': 'Registry.Example.COM/app:latest',
    'UPPER/app': 'UPPER/app:latest',
    'a-b.c_d/e__f/g---h': 'a-b.c_d/e__f/g---h:latest',
    [`busybox@${sha}`]: `busybox@${sha}`,
    [`busybox:1.36@${sha}`]: `busybox:1.36@${sha}`,
    [`app:${'t'.repeat(128)}`]: `app:${'t'.repeat(128)}`,
    'app:_under.dot-dash': 'app:_under.dot-dash',
  };
  for (const [written, name] of Object.entries(table)) {
    test(written, () => assert.deepEqual(completeImageName(written), { name }));
  }
});

describe('names that are none, and why', () => {
  const format = 'invalid reference format';
  const table: Readonly<Record<string, string>> = {
    '': format,
    ' busybox': format,
    'busybox ': format,
    'busybox\n': format,
    ':1.36': format,
    'busybox:': format,
    'busybox:-tag': format,
    [`app:${'t'.repeat(129)}`]: format,
    'busybox@sha256:short': format,
    '/busybox': format,
    'a//b': format,
    'a/': format,
    'a..b': format,
    a___b: format,
    '-app': format,
    'app-': format,
    'http://example.com/app': format,
    Busybox: `${format}: repository name (library/Busybox) must be lowercase`,
    'Busybox:1': `${format}: repository name (library/Busybox) must be lowercase`,
    'team/App:1': `${format}: repository name (team/App) must be lowercase`,
    'example.com/team/App': `${format}: repository name (team/App) must be lowercase`,
    ['f0'.repeat(32)]: `invalid repository name (${'f0'.repeat(32)}), cannot specify 64-byte hexadecimal strings`,
  };
  for (const [written, why] of Object.entries(table)) {
    test(JSON.stringify(written), () =>
      assert.deepEqual(completeImageName(written), { invalid: `couldn't parse image name "${written}": ${why}` }),
    );
  }
});

describe('repositories in full', () => {
  const table: Readonly<Record<string, string>> = {
    busybox: 'docker.io/library/busybox',
    'busybox:1.36': 'docker.io/library/busybox',
    [`busybox:1.36@${sha}`]: 'docker.io/library/busybox',
    [`team/app@${sha}`]: 'docker.io/team/app',
    'docker.io/busybox:1': 'docker.io/library/busybox',
    'index.docker.io/team/app': 'docker.io/team/app',
    'localhost/app': 'localhost/app',
    'localhost:5000/app': 'localhost:5000/app',
    '10.0.0.1:80/a/b:tag': '10.0.0.1:80/a/b',
    '[::1]:5000/a/b:1': '[::1]:5000/a/b',
    'registry.k8s.io/pause:3.10': 'registry.k8s.io/pause',
    'UPPER/app:1': 'UPPER/app',
  };
  for (const [written, repository] of Object.entries(table)) {
    test(written, () => assert.equal(fullRepository(written), repository));
  }
});
