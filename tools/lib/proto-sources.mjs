// Where the messages in proto/ are published: Go modules in the versions that the control plane of the tests is made of,
// with the checksums of its go.sum.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const pinnedBy = 'test/real/control-plane';
const containerd = 'github.com/containerd/containerd/api';
const kubelet = 'k8s.io/kubelet/pkg/apis';

/** Our files, and the files upstream that have the same messages, by the path under which others import them. */
export const protoSources = [
  { ours: 'runtime/v1/api.proto', upstream: ['k8s.io/cri-api/pkg/apis/runtime/v1/api.proto'] },
  { ours: 'podresources/v1/api.proto', upstream: [`${kubelet}/podresources/v1/api.proto`] },
  { ours: 'podresources/v1alpha1/api.proto', upstream: [`${kubelet}/podresources/v1alpha1/api.proto`] },
  { ours: 'pluginregistration/v1/api.proto', upstream: [`${kubelet}/pluginregistration/v1/api.proto`] },
  { ours: 'csi/v1/csi.proto', upstream: ['github.com/container-storage-interface/spec/csi.proto'] },
  {
    ours: 'containerd/events.proto',
    upstream: [
      `${containerd}/services/events/v1/events.proto`,
      `${containerd}/events/task.proto`,
      `${containerd}/events/container.proto`,
      `${containerd}/events/sandbox.proto`,
    ],
  },
  {
    ours: 'opentelemetry/trace.proto',
    // This module has no .proto files, only what was generated from them.
    upstream: ['collector/trace/v1/trace_service', 'trace/v1/trace', 'resource/v1/resource', 'common/v1/common'].map(
      (name) => `go.opentelemetry.io/proto/otlp/${name}.pb.go`,
    ),
  },
];

/** Modules that files of the sources are in, and those that they import. */
const modules = [
  'k8s.io/cri-api',
  'k8s.io/kubelet',
  'github.com/container-storage-interface/spec',
  containerd,
  'go.opentelemetry.io/proto/otlp',
  'github.com/gogo/protobuf',
];

/**
 * Downloads the modules, unless Go has them already.
 * @returns {Map<string, {version: string, folder: string}>} by path; throws the reason when one cannot be had
 */
export function downloadModules(root) {
  const { status, stdout, stderr, error } = spawnSync('go', ['mod', 'download', '-json', ...modules], {
    cwd: join(root, pinnedBy),
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`needs Go: ${error.message}`);
  // One object after the other, each beginning at the start of a line.
  const found = stdout.split(/^(?=\{)/m).filter((text) => text.trim() !== '');
  const parsed = found.map((text) => JSON.parse(text));
  const failed = parsed.find((module) => module.Error !== undefined);
  if (failed !== undefined) throw new Error(`${failed.Path}: ${failed.Error}`);
  if (status !== 0) throw new Error(`go mod download: ${stderr.trim()}`);
  return new Map(parsed.map(({ Path, Version, Dir }) => [Path, { version: Version, folder: Dir }]));
}

/** The module of a file upstream. */
export const moduleOf = (path) => modules.find((module) => path.startsWith(`${module}/`));

/** Descriptors of files upstream, with those of all they import. */
export function upstreamDescriptors(root, paths, downloaded) {
  const onDisk = (path) => {
    const module = moduleOf(path);
    return join(downloaded.get(module).folder, path.slice(module.length + 1));
  };
  const generated = paths.filter((path) => path.endsWith('.pb.go'));
  if (generated.length > 0)
    return generated.map((path) => embeddedDescriptor(readFileSync(onDisk(path), 'utf8'), path));
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-proto-'));
  try {
    const wanted = [...paths];
    for (const path of wanted) {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(onDisk(path), target);
      for (const [, imported] of readFileSync(target, 'utf8').matchAll(/^import "([^"]+)";/gm))
        if (moduleOf(imported) !== undefined && !wanted.includes(imported)) wanted.push(imported);
    }
    return buildDescriptors(root, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Descriptors of a folder of .proto files, or of one file in it. */
export function buildDescriptors(root, folder, file) {
  const only = file === undefined ? [] : ['--path', join(folder, file)];
  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/buf'),
    ['build', folder, ...only, '-o', '-'],
    {
      maxBuffer: 64 << 20,
    },
  );
  if (status !== 0) throw new Error(`buf build: ${stderr}`);
  return fromBinary(FileDescriptorSetSchema, stdout).file;
}

/** Go code that protoc generates carries the descriptor of its file, here as a list of bytes. */
function embeddedDescriptor(text, path) {
  const list = /_rawDesc = \[\]byte\{([^}]*)\}/.exec(text)?.[1];
  if (list === undefined) throw new Error(`${path}: no descriptor that is a list of bytes`);
  return fromBinary(FileDescriptorProtoSchema, Uint8Array.from(list.match(/0x[0-9a-f]+/g) ?? [], Number));
}
