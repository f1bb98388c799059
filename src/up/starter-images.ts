import { readFile } from 'node:fs/promises';
import { TubeletError } from '../base/errors.ts';
import { buildImageArchive, type ImageSpec } from './oci-image.ts';
import type { RunCommand } from './ports.ts';
import { programs } from './programs.ts';
import type { TarEntry } from './tar.ts';

/** References of the images that are made here. `localhost` is not a registry: they can never be pulled. */
export const starterImages = {
  pause: 'localhost/tubelet/pause:1',
  busybox: 'localhost/tubelet/busybox:1',
} as const;

/** Archives of the starter images, made from programs of this machine without any network. */
export async function makeStarterImages(
  run: RunCommand,
): Promise<readonly { readonly reference: string; readonly archive: Buffer }[]> {
  const architecture = imageArchitecture(process.arch);
  const [catatonit, busybox, applets] = await Promise.all([
    readFile(programs.catatonit),
    readFile(programs.busybox),
    run(programs.busybox, ['--list-full']),
  ]);
  const specs = [pauseImage(architecture, catatonit), busyboxImage(architecture, busybox, applets.split('\n'))];
  return specs.map((spec) => ({ reference: spec.reference, archive: buildImageArchive(spec) }));
}

/** Holds a pod's namespaces open and reaps orphaned processes of its containers. */
export function pauseImage(architecture: string, catatonit: Buffer): ImageSpec {
  return {
    reference: starterImages.pause,
    architecture,
    entrypoint: ['/catatonit', '-P'],
    files: [{ kind: 'file', path: 'catatonit', mode: 0o755, content: catatonit }],
  };
}

/** A small userland: every applet of busybox under its usual path. */
export function busyboxImage(architecture: string, busybox: Buffer, applets: readonly string[]): ImageSpec {
  const links = [...new Set(applets.map((path) => path.trim().replace(/^\//, '')))]
    .filter((path) => path !== '' && path !== 'bin/busybox')
    .map((path): TarEntry => ({ kind: 'symlink', path, target: '/bin/busybox' }));
  if (!links.some((link) => link.path === 'bin/sh'))
    links.push({ kind: 'symlink', path: 'bin/sh', target: '/bin/busybox' });
  return {
    reference: starterImages.busybox,
    architecture,
    command: ['sh'],
    files: [
      ...['bin', 'etc', 'home', 'root', 'sbin', 'usr', 'usr/bin', 'usr/sbin', 'var', 'var/www'].map(directory),
      { kind: 'directory', path: 'tmp', mode: 0o1777 },
      { kind: 'file', path: 'bin/busybox', mode: 0o755, content: busybox },
      ...links.sort((left, right) => (left.path < right.path ? -1 : 1)),
      text('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n'),
      text('etc/group', 'root:x:0:\nnogroup:x:65534:\n'),
    ],
  };
}

/** The architecture in the spelling of images. */
export function imageArchitecture(arch: string): string {
  const known: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' };
  const found = known[arch] ?? (['ppc64', 's390x', 'riscv64', 'loong64'].includes(arch) ? arch : undefined);
  if (found === undefined) throw new TubeletError('unsupported', `no image architecture is known for ${arch}`);
  return found === 'ppc64' ? 'ppc64le' : found;
}

const directory = (path: string): TarEntry => ({ kind: 'directory', path, mode: 0o755 });
const text = (path: string, content: string): TarEntry => ({
  kind: 'file',
  path,
  mode: 0o644,
  content: Buffer.from(content),
});
