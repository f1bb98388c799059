// npm run log-fields: pods and errors are named the same way in every line of the log; see tools/lib/log-fields.mjs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { logFieldProblems } from './lib/log-fields.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isProduct = (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^(gen|testing)\//.test(path);
const files = readdirSync(join(root, 'src'), { recursive: true }).filter(isProduct).sort();
const problems = files.flatMap((path) => {
  const found = logFieldProblems(parseSync, path, readFileSync(join(root, 'src', path), 'utf8'));
  return found.map(({ line, text }) => `src/${path}:${line}: ${text}`);
});
for (const problem of problems) console.error(problem);
console.log(`log fields: ${files.length} files, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
