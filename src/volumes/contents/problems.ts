/** Several problems as one text, each once: a list in brackets when there is more than one. */
function joinProblems(problems: readonly string[]): string {
  const each = [...new Set(problems)];
  return each.length === 1 ? (each[0] ?? '') : `[${each.join(', ')}]`;
}

/** Returns the value, or throws an error with all problems. */
export function allOrNothing<T>(value: T, problems: readonly string[], error: (message: string) => Error): T {
  if (problems.length > 0) throw error(joinProblems(problems));
  return value;
}
