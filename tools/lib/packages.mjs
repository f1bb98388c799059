// npm packages, installed when the lock file asks for more than is there.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Installs npm packages unless node_modules already answers to the lock file. */
export function ensurePackages(root) {
  if (installedAsLocked(root)) return;
  console.log('installing npm packages');
  // Not `npm ci`: it insists on the optional packages of every platform, and not every registry has them all.
  const result = spawnSync(
    'npm',
    ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (result.status !== 0) {
    console.error('npm install failed; run it by hand to see why, then try again');
    process.exit(1);
  }
}

function installedAsLocked(root) {
  const installed = `${root}/node_modules/.package-lock.json`;
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')).packages;
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || entry.peer || present[path]?.version === entry.version,
  );
}
