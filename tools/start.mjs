// npm start: installs npm packages when they are missing, builds the program when it is missing or older than its
// sources, and runs `tubelet up` with the arguments given.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

ensurePackages(root);
if (needsBuild()) {
  console.log('building tubelet');
  const result = spawnSync(process.execPath, [join(root, 'tools/build.mjs')], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (result.status !== 0) {
    console.error('npm run build failed');
    process.exit(1);
  }
}

const child = spawn(join(root, 'bin/tubelet'), ['up', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // Ctrl-C reaches every process of the terminal; passing it on would count as the second one, which ends at once.
  process.on(signal, () => void (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
}
child.on('error', (error) => {
  console.error(`cannot start tubelet: ${error.message}`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
});

/** Something was changed after the last build. */
function needsBuild() {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) return true;
  const built = newest(dist);
  const sources = ['src', 'package-lock.json', 'tools/build.mjs'].map((name) => join(root, name));
  return sources.filter((path) => existsSync(path)).some((path) => newest(path) > built);
}

/** The latest change of a file or of anything below a folder. */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}
