import { createHash } from 'node:crypto';
import { writeTar, type TarEntry } from './tar.ts';

export interface ImageSpec {
  /** Full reference, such as `localhost/tubelet/pause:1`. */
  readonly reference: string;
  readonly architecture: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly string[];
  readonly files: readonly TarEntry[];
}

/** A one-layer image as an OCI image layout in a tar archive, ready for import. Equal specs give equal bytes. */
export function buildImageArchive(spec: ImageSpec): Buffer {
  const layer = writeTar(spec.files);
  const config = json({
    architecture: spec.architecture,
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: {
      Env: spec.env ?? ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ...(spec.entrypoint === undefined ? {} : { Entrypoint: spec.entrypoint }),
      ...(spec.command === undefined ? {} : { Cmd: spec.command }),
    },
    // The layer is not compressed, so its digest is that of the archive itself.
    rootfs: { type: 'layers', diff_ids: [digest(layer)] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'tubelet' }],
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  const index = json({
    schemaVersion: 2,
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        annotations: { 'io.containerd.image.name': spec.reference, 'org.opencontainers.image.ref.name': tagOf(spec) },
        platform: { architecture: spec.architecture, os: 'linux' },
      },
    ],
  });
  return writeTar([
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    file('index.json', index),
    { kind: 'directory', path: 'blobs', mode: 0o755 },
    { kind: 'directory', path: 'blobs/sha256', mode: 0o755 },
    ...[manifest, config, layer].map((blob) => file(`blobs/sha256/${sha256(blob)}`, blob)),
  ]);
}

function tagOf(spec: ImageSpec): string {
  return spec.reference.slice(spec.reference.lastIndexOf(':') + 1);
}

function file(path: string, content: Buffer): TarEntry {
  return { kind: 'file', path, mode: 0o644, content };
}

function descriptor(mediaType: string, blob: Buffer): { mediaType: string; digest: string; size: number } {
  return { mediaType, digest: digest(blob), size: blob.length };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const sha256 = (blob: Buffer): string => createHash('sha256').update(blob).digest('hex');
const digest = (blob: Buffer): string => `sha256:${sha256(blob)}`;
