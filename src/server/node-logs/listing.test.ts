import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contentTypeOf } from './file-pages.ts';
import { acceptsGzip } from './gzip-sink.ts';
import { namesOf } from './file-pages.ts';
import { listingPage } from './listing.ts';

describe('the page of a folder', () => {
  test('lists names in order, with links that hold with and without a slash at the end', () => {
    const entries = [
      { name: 'pods', isFolder: true },
      { name: 'a b.log', isFolder: false },
      { name: 'B', isFolder: false },
    ];
    assert.equal(
      listingPage(['x y'], entries, false),
      '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n' +
        '<a href="/logs/x%20y/B">B</a>\n' +
        '<a href="/logs/x%20y/a%20b.log">a b.log</a>\n' +
        '<a href="/logs/x%20y/pods/">pods/</a>\n</pre>\n',
    );
    assert.match(listingPage([], entries, true), /<a href="\/logs\/B">B<\/a>[^]*\.\.\. and more\n<\/pre>/);
  });

  test('has no name that is more than a name', () => {
    const name = `"><script>alert('&?#\ud800`;
    const page = listingPage([name], [{ name, isFolder: false }], false);
    assert.ok(!page.includes('<script'));
    assert.ok(page.includes('&#34;&gt;&lt;script&gt;alert(&#39;&amp;?#'));
    assert.match(page, /href="\/logs\/%22%3E%3Cscript%3Ealert\(%27%26%3F%23%EF%BF%BD\//);
  });
});

test('a path never leads above the root', () => {
  const cases: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['', []],
    ['/', []],
    ['a/b', ['a', 'b']],
    ['../../etc/passwd', ['etc', 'passwd']],
    ['a/../../b', ['b']],
    ['./a//b/', ['a', 'b']],
    ['a\0b', undefined],
    ['x'.repeat(5_000), undefined],
  ];
  for (const [path, names] of cases) assert.deepEqual(namesOf(path), names, path);
});

test('content is text, unless its first bytes say otherwise, and never a page', () => {
  assert.equal(contentTypeOf(Buffer.from('<html><script>')), 'text/plain; charset=utf-8');
  assert.equal(contentTypeOf(Buffer.from('\x1b[31mred\tä\r\n')), 'text/plain; charset=utf-8');
  assert.equal(contentTypeOf(Buffer.alloc(0)), 'text/plain; charset=utf-8');
  assert.equal(contentTypeOf(Buffer.from([0x1f, 0x8b, 0x08, 0])), 'application/x-gzip');
  assert.equal(contentTypeOf(Buffer.from([0x61, 0x00])), 'application/octet-stream');
});

test('who takes compressed answers says so', () => {
  for (const header of ['gzip', 'deflate, gzip;q=0.5', '*', ['br', 'GZIP']])
    assert.ok(acceptsGzip(header), String(header));
  for (const header of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.00', 'xgzip'])
    assert.ok(!acceptsGzip(header), header);
});
