import { messageOf } from '../base/errors.ts';
import { text, type Page } from './route.ts';

/** One health check. Returns the problem, or undefined. */
export interface HealthCheck {
  readonly name: string;
  check(): string | undefined;
}

interface HealthQuery {
  readonly verbose: boolean;
  readonly exclude: readonly string[];
}

/** Called with the result of each check that was made. */
export type ObserveCheck = (name: string, problem: string | undefined) => void;

/** Unknown names of a request are repeated in the answer only up to these limits. */
const maxUnknown = 10;
const maxUnknownLength = 64;

/**
 * The text of a health page. A failed check is named but not explained: the page may be open to every client,
 * and the log has the reason.
 */
export function healthPage(
  checks: readonly HealthCheck[],
  query: HealthQuery,
  observe: ObserveCheck = () => undefined,
): Page {
  const lines: string[] = [];
  const problems: string[] = [];
  for (const check of checks) {
    const { name } = check;
    if (query.exclude.includes(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = problemOf(check);
    observe(name, problem);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
    lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`);
  }
  lines.push(...unknownNames(query.exclude, checks));
  if (problems.length > 0) {
    return { ...text(500, [...lines, 'healthz check failed', ''].join('\n')), problem: problems.join('; ') };
  }
  return text(200, query.verbose ? [...lines, 'healthz check passed', ''].join('\n') : 'ok');
}

/** The page of one check alone, which only `shown` explains: to authenticated callers. */
export function singleCheckPage(check: HealthCheck, shown: boolean): Page {
  const problem = problemOf(check);
  if (problem === undefined) return text(200, 'ok');
  const reason = shown ? problem : 'reason withheld';
  return { ...text(500, `internal server error: ${reason}\n`), problem: `${check.name}: ${problem}` };
}

/** A check that throws counts as failed. */
function problemOf(check: HealthCheck): string | undefined {
  try {
    return check.check();
  } catch (error) {
    return `the check failed: ${messageOf(error)}`;
  }
}

function unknownNames(exclude: readonly string[], checks: readonly HealthCheck[]): readonly string[] {
  const known = new Set(checks.map(({ name }) => name));
  const unknown = [...new Set(exclude)].filter((name) => !known.has(name));
  if (unknown.length === 0) return [];
  const quoted = unknown.slice(0, maxUnknown).map((name) => JSON.stringify(name.slice(0, maxUnknownLength)));
  return [`warn: some health checks cannot be excluded: no matches for ${quoted.join(',')}`];
}
