// npm run package: packs what would be published and installs it into an empty folder, as a user does. The installed program
// must start with nothing beside it but what its package.json names as dependencies, and the lock file must name no registry.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const { dependencies, name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const problems = [];

const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
for (const [path, entry] of Object.entries(locked))
  if (entry.resolved !== undefined) problems.push(`package-lock.json: ${path} names a registry: ${entry.resolved}`);
if (Object.keys(dependencies).join() !== 'koffi')
  problems.push(
    `package.json: dependencies are ${Object.keys(dependencies).join(', ')}, where the bundle leaves out koffi alone`,
  );

const folder = mkdtempSync(join(tmpdir(), 'tubelet-package-'));
try {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root));
  const files = packed.files.map(({ path }) => path);
  const units = ['packaging/systemd/kubelet.service', 'packaging/systemd/kubelet.service.d/10-kubeadm.conf'];
  for (const wanted of ['bin/tubelet', 'dist/tubelet.mjs', 'package.json', 'README.md', ...units])
    if (!files.includes(wanted)) problems.push(`the package has no ${wanted}`);
  const strange = files.filter((path) => !/^(?:bin|dist|packaging)\/|^(?:package\.json|README\.md)$/.test(path));
  if (strange.length > 0) problems.push(`the package has ${strange.join(', ')}`);

  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const install = ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', [...install, join(folder, packed.filename)], folder);
  // Without what npm keeps for itself, and without koffi's own libraries for each platform.
  const installed = readdirSync(join(folder, 'node_modules')).filter((entry) => !/^\.|^@koromix$/.test(entry));
  if (installed.join() !== ['koffi', name].join()) problems.push(`installed are ${installed.join(', ')}`);
  const said = run(join(folder, 'node_modules/.bin/tubelet'), ['--version'], folder);
  if (!said.includes(`+tubelet.${version}`)) problems.push(`the installed program says ${said}`);
  // All that the agent consists of is loaded before it asks for its runtime.
  const agent = spawnSync(join(folder, 'node_modules/.bin/kubelet'), ['--container-runtime-endpoint=none'], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (!agent.stderr.includes('runtime endpoint "none"')) problems.push(`the installed agent says ${agent.stderr}`);
  console.log(
    `package: ${files.length} files, ${Math.ceil(packed.unpackedSize / 1024)} kB; installed: ${installed.join(', ')}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${error?.message ?? stderr}`);
  return stdout;
}
