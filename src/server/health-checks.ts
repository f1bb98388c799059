import { text, type RouteResponse } from './route.ts';

/** One thing that must be well. Answers what is wrong, or nothing. */
export interface HealthCheck {
  readonly name: string;
  check(): string | undefined;
}

export interface HealthQuery {
  readonly verbose: boolean;
  readonly exclude: readonly string[];
}

/**
 * The text of a health page. A failed check is named but not explained: the page may be open to anybody, and the log
 * has the reason.
 */
export function healthPage(checks: readonly HealthCheck[], query: HealthQuery): RouteResponse {
  const lines: string[] = [];
  const problems: string[] = [];
  for (const check of checks) {
    const { name } = check;
    if (query.exclude.includes(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = check.check();
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
    lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`);
  }
  if (problems.length > 0) {
    return { ...text(500, [...lines, 'healthz check failed', ''].join('\n')), problem: problems.join('; ') };
  }
  return text(200, query.verbose ? [...lines, 'healthz check passed', ''].join('\n') : 'ok');
}
