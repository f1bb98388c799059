// npm run bench:startup: how long `tubelet --version` takes, as a multiple of `node -e 0`, in one run.
// The two alternate, so that whatever else the machine does hits both alike.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rounds = 30;
const limit = 2.5;

if (!existsSync(`${root}dist/tubelet.mjs`))
  spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });

const candidates = {
  'node -e 0': ['node', ['-e', '0']],
  'tubelet --version': [`${root}bin/tubelet`, ['--version']],
};
const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, [program, args]] of Object.entries(candidates)) {
    const began = performance.now();
    const { status } = spawnSync(program, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`${name} failed with ${status}`);
    times[name].push(performance.now() - began);
  }
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const [base, ours] = Object.values(times).map(median);
const result = { rounds, nodeMs: base, tubeletMs: ours, ratio: ours / base, limit };
mkdirSync(`${root}bench/results`, { recursive: true });
writeFileSync(`${root}bench/results/startup.json`, `${JSON.stringify(result, null, 2)}\n`);
console.log(`node -e 0          ${base.toFixed(1)} ms (median of ${rounds})`);
console.log(`tubelet --version  ${ours.toFixed(1)} ms, ${result.ratio.toFixed(2)} x (aim: at most ${limit})`);
