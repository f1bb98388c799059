// npm run generate: makes the messages in src/gen/ from proto/.
//
// buf writes to .build/proto; from there the files are moved to their places, so that the folder of generated code does
// not have to mirror the package names of protobuf.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);

const made = '.build/proto';
const files = [
  { from: `${made}/runtime/v1/api.ts`, to: 'src/gen/cri/api.ts' },
  { from: `${made}/containerd/events.ts`, to: 'src/gen/containerd/events.ts' },
  { from: `${made}/opentelemetry/trace.ts`, to: 'src/gen/opentelemetry/trace.ts' },
  { from: `${made}/podresources/v1/api.ts`, to: 'src/gen/podresources/v1.ts' },
  { from: `${made}/podresources/v1alpha1/api.ts`, to: 'src/gen/podresources/v1alpha1.ts' },
  { from: `${made}/pluginregistration/v1/api.ts`, to: 'src/gen/pluginregistration/v1.ts' },
  { from: `${made}/csi/v1/csi.ts`, to: 'src/gen/csi/v1.ts' },
];

rmSync(made, { recursive: true, force: true });
const result = spawnSync('node_modules/.bin/buf', ['generate'], { stdio: ['ignore', 'inherit', 'inherit'] });
if (result.error !== undefined || result.status !== 0) {
  console.error(`buf generate failed: ${result.error?.message ?? `exit code ${result.status}`}`);
  process.exit(1);
}
for (const { from, to } of files) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  console.log(`wrote ${to}`);
}
rmSync(made, { recursive: true, force: true });
