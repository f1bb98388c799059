// npm test: sets up what the tests need, runs every tier this machine can run, and says which it cannot and why.
//
//   node tools/test.mjs                       all tiers
//   node tools/test.mjs --tier=unit,property  some tiers
//   node tools/test.mjs src/config            only test files whose path contains one of the words
//   node tools/test.mjs --node=24             on another version of Node.js than this one
//   TUBELET_REQUIRE=containerd                a listed tier that cannot run is a failure
//   TUBELET_TEST_RUNTIME=cri-o                the tier runtimes on one of them only
import { spawnSync } from 'node:child_process';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileTests, findTestFiles } from './lib/compile.mjs';
import { envWithNode, nodeFolder } from './lib/node-versions.mjs';
import { ensurePackages } from './lib/packages.mjs';
import { TestReport } from './lib/report.mjs';
import { tiers } from './lib/tiers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
process.chdir(root);

const words = process.argv.slice(2);
const major = words.find((word) => word.startsWith('--node='))?.slice('--node='.length);
if (major !== undefined) process.exit(runOn(major));
const onlyTiers = words
  .find((word) => word.startsWith('--tier='))
  ?.slice('--tier='.length)
  .split(',');
const filters = words.filter((word) => !word.startsWith('--'));
const required = (process.env.TUBELET_REQUIRE ?? '').split(',').filter((name) => name !== '');

const unknown = [...required, ...(onlyTiers ?? [])].filter((name) => !tiers.some((tier) => tier.name === name));
if (unknown.length > 0) {
  console.error(`no such tier: ${unknown.join(', ')}; there are ${tiers.map((tier) => tier.name).join(', ')}`);
  process.exit(2);
}

ensurePackages(root);
const allFiles = findTestFiles(root);
const isWanted = (path) => filters.length === 0 || filters.some((word) => path.includes(word.replace(/^\.\//, '')));
const chosen = tiers
  .filter(({ name, onlyByName }) => (onlyTiers === undefined ? onlyByName !== true : onlyTiers.includes(name)))
  .map((tier) => ({ ...tier, ...filesOf(tier) }))
  .filter((tier) => tier.files.length > 0);
if (chosen.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`);
  process.exit(2);
}

const totals = { passed: 0, failed: 0, skipped: 0 };
const compiled = await compileTests(
  root,
  chosen.flatMap((tier) => [...tier.files, ...tier.insideFiles]),
);
let built = false;
for (const tier of chosen) {
  const why = tier.probe();
  if (why !== undefined) {
    const fatal = required.includes(tier.name);
    console.log(`${tier.name}: cannot run here: ${why}${fatal ? ' (required by TUBELET_REQUIRE)' : ''}`);
    if (fatal) totals.failed++;
    else totals.skipped += tier.files.length;
    continue;
  }
  if (tier.needsBuild && !built) built = buildProgram();
  for (const [variant, variables] of Object.entries(tier.variants ?? { '': {} }))
    await runVariant(tier, variant, variables);
}

console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0;

/** A tier's files as the words want them. What runs inside runs through its driver: all of it, or what the words name. */
function filesOf({ matches, inside }) {
  const files = allFiles.filter((path) => matches(path) && isWanted(path));
  if (inside === undefined) return { files, insideFiles: [] };
  const all = allFiles.filter(inside.matches);
  const named = all.filter(isWanted);
  if (files.includes(inside.driver)) return { files, insideFiles: named.length > 0 ? named : all };
  return { files: named.length > 0 ? [...files, inside.driver] : files, insideFiles: named };
}

/** Test processes inherit the variables; where one of them has another value already, the variant is not wanted. */
async function runVariant(tier, variant, variables) {
  const set = Object.entries(variables).filter(([name]) => process.env[name] === undefined);
  if (Object.entries(variables).some(([name, value]) => ![undefined, value].includes(process.env[name]))) return;
  for (const [name, value] of set) process.env[name] = value;
  await runTier(tier, variant);
  for (const [name] of set) delete process.env[name];
}

async function runTier(tier, variant) {
  const began = performance.now();
  process.env.TUBELET_INSIDE_TESTS = JSON.stringify(tier.insideFiles.map((path) => [path, compiled.get(path)]));
  const report = new TestReport();
  const stream = run({
    files: tier.files.map((path) => compiled.get(path)),
    concurrency: tier.concurrency,
    timeout: tier.timeoutMs,
  });
  for await (const event of stream) report.take(event);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${[tier.name, variant].filter((word) => word !== '').join(' on ')}: ${report.passed} ok, ${report.failed} not ok, ${report.skipped} left out, ${tier.files.length} files, ${seconds} s`,
  );
  for (const skip of report.skips) console.log(`  left out: ${skip}`);
  for (const key of Object.keys(totals)) totals[key] += report[key];
}

/** Runs this program on another version of Node.js; answers its exit code. */
function runOn(version) {
  const found = nodeFolder(version);
  if ('why' in found) {
    console.error(found.why);
    return 1;
  }
  const rest = words.filter((word) => !word.startsWith('--node='));
  const env = envWithNode(found.folder);
  console.log(`on Node.js ${version}:`);
  return spawnSync(`${found.folder}/node`, [process.argv[1], ...rest], { stdio: 'inherit', env }).status ?? 1;
}

function buildProgram() {
  const result = spawnSync(process.execPath, ['tools/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0) {
    console.error('npm run build failed');
    process.exit(1);
  }
  return true;
}
