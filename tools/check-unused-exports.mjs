// npm run exports, a part of npm run layers: what src/ exports is imported by another file, and by more than tests.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { unusedExports } from './lib/unused-exports.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const ruleOfEviction = 'a rule of evictions when the node is short, held against records; its caller is to come';

/** What only tests use, and yet belongs to the product, each with the reason. */
const reasons = {
  'src/eviction/containerfs-thresholds.ts deriveContainerfs': ruleOfEviction,
  'src/eviction/evaluate-round.ts initialState': ruleOfEviction,
  'src/eviction/evaluate-round.ts evaluateRound': ruleOfEviction,
  'src/eviction/evaluate-round.ts isRelieved': ruleOfEviction,
  'src/eviction/eviction-message.ts evictionText': ruleOfEviction,
  'src/eviction/observations.ts observationsOf': ruleOfEviction,
  'src/eviction/rank-pods.ts rankPods': ruleOfEviction,
  'src/eviction/signals.ts reclaimSteps': ruleOfEviction,
  'src/stats/pages/absent.ts absentFromCadvisorPage': 'what the page has not; tests hold docs and records against it',
  'src/stats/pages/absent.ts absentFromResourcePage': 'what the page has not; tests hold docs and records against it',
  'src/stats/pages/absent.ts absentWhereNotCounted': 'what the page has not; tests hold docs and records against it',
  'src/telemetry/absent-metrics.ts reasonForAbsence': 'what the page has not; tests hold docs and records against it',
};

const files = new Map(
  ['src', 'test', 'bench', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((path) => /\.(?:ts|mjs)$/.test(path))
      .map((path) => `${folder}/${path}`)
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  ),
);
const isTest = (path) => !path.startsWith('src/') || path.startsWith('src/testing/') || path.endsWith('.test.ts');
const resolve = (path, from) => (from.startsWith('.') ? normalize(join(dirname(path), from)) : from);
const unused = unusedExports(parseSync, files, isTest, resolve).filter(({ path }) => /^src\/(?!gen\/)/.test(path));

const problems = unused.flatMap(({ path, name, offset, forTests, usedHere }) => {
  // A test may look into a file, and come in by the door of a room.
  if (forTests && (usedHere || path.endsWith('/index.ts') || `${path} ${name}` in reasons)) return [];
  const line = files.get(path).slice(0, offset).split('\n').length;
  return [`${path}:${line}: ${forTests ? 'only tests import' : 'no other file imports'} ${name}`];
});
const known = new Set(unused.map(({ path, name }) => `${path} ${name}`));
for (const entry of Object.keys(reasons)) {
  if (!known.has(entry)) problems.push(`tools/check-unused-exports.mjs: ${entry} needs no reason any more`);
}
for (const problem of problems) console.error(problem);
console.log(`exports: ${files.size} files, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
