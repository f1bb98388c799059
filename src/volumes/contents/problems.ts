/** Several problems as one text, each said once: a list in brackets when there is more than one. */
function joinProblems(problems: readonly string[]): string {
  const each = [...new Set(problems)];
  return each.length === 1 ? (each[0] ?? '') : `[${each.join(', ')}]`;
}

/** The value when nothing is wrong with it; otherwise an error that names all that is. */
export function allOrNothing<T>(value: T, problems: readonly string[], error: (message: string) => Error): T {
  if (problems.length > 0) throw error(joinProblems(problems));
  return value;
}
