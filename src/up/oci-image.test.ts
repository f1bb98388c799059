import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { buildImageArchive } from './oci-image.ts';
import { busyboxImage, imageArchitecture, pauseImage, starterImages } from './starter-images.ts';

interface Descriptor {
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

function read(archive: Buffer, path: string): Buffer {
  return execFileSync('tar', ['-xOf', '-', path], { input: archive });
}

/** Follows a descriptor and checks what it promises. */
function follow(archive: Buffer, { digest, size }: Descriptor): Buffer {
  const blob = read(archive, `blobs/sha256/${digest.slice('sha256:'.length)}`);
  assert.equal(blob.length, size);
  assert.equal(`sha256:${createHash('sha256').update(blob).digest('hex')}`, digest);
  return blob;
}

test('every digest in the layout leads to the blob it names', () => {
  const archive = buildImageArchive(pauseImage('amd64', Buffer.from('program')));
  const index = JSON.parse(read(archive, 'index.json').toString()) as { manifests: Descriptor[] };
  const [entry] = index.manifests;
  assert.ok(entry !== undefined);
  assert.equal(entry.annotations?.['io.containerd.image.name'], starterImages.pause);
  const manifest = JSON.parse(follow(archive, entry).toString()) as {
    config: Descriptor;
    layers: Descriptor[];
  };
  const config = JSON.parse(follow(archive, manifest.config).toString()) as {
    config: { Entrypoint: string[] };
    rootfs: { diff_ids: string[] };
  };
  assert.deepEqual(config.config.Entrypoint, ['/catatonit', '-P']);
  const layer = follow(archive, manifest.layers[0]!);
  assert.deepEqual(config.rootfs.diff_ids, [manifest.layers[0]?.digest]);
  assert.equal(read(layer, 'catatonit').toString(), 'program');
});

test('equal content makes equal archives', () => {
  const make = (text: string): Buffer => buildImageArchive(pauseImage('amd64', Buffer.from(text)));
  assert.ok(make('a').equals(make('a')));
  assert.ok(!make('a').equals(make('b')));
});

test('busybox has each applet once, a shell and the files that programs read', () => {
  const { files } = busyboxImage('amd64', Buffer.from('program'), [
    'bin/ls',
    'bin/busybox',
    'usr/bin/awk',
    'bin/ls',
    '',
  ]);
  const paths = files.map((file) => file.path);
  assert.equal(new Set(paths).size, paths.length);
  for (const path of ['bin/busybox', 'bin/ls', 'bin/sh', 'usr/bin/awk', 'etc/passwd', 'etc/group', 'tmp']) {
    assert.ok(paths.includes(path), path);
  }
  for (const file of files) if (file.kind === 'symlink') assert.equal(file.target, '/bin/busybox');
});

test('architectures have the names that images use', () => {
  assert.equal(imageArchitecture('x64'), 'amd64');
  assert.equal(imageArchitecture('arm64'), 'arm64');
  assert.throws(() => imageArchitecture('mips'), /mips/);
});
