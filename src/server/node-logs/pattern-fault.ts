/**
 * What is wrong with a regular expression whatever dialect it is in, in Go's words; nothing when it may be right. The
 * journal has its own dialect (PCRE2), and the last word: what it does not understand it says in the answer.
 */
export function patternFault(pattern: string): string | undefined {
  if (pattern.includes('\0')) return 'error parsing regexp: it cannot have a zero character';
  let open = 0;
  /** A repetition needs something to repeat. */
  let repeatable = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') {
      if (at + 1 === pattern.length) return fault('trailing backslash at end of expression', '');
      if (pattern[at + 1] === 'Q') {
        // Everything is meant as it stands until \E.
        const end = pattern.indexOf('\\E', at + 2);
        at = end < 0 ? pattern.length : end + 1;
      } else at++;
      repeatable = true;
    } else if (character === '[') {
      const end = classEnd(pattern, at);
      if (end < 0) return fault('missing closing ]', pattern.slice(at));
      at = end;
      repeatable = true;
    } else if (character === '(') {
      open++;
      repeatable = pattern[at + 1] === '?';
      if (repeatable) at++;
    } else if (character === ')') {
      if (--open < 0) return fault('unexpected )', pattern);
      repeatable = true;
    } else if (character === '*' || character === '+' || character === '?') {
      if (!repeatable) return fault('missing argument to repetition operator', character);
    } else repeatable = character !== '|';
  }
  return open > 0 ? fault('missing closing )', pattern) : undefined;
}

/** Where a class of characters ends; a bracket right at its beginning belongs to it. */
function classEnd(pattern: string, start: number): number {
  let at = start + (pattern[start + 1] === '^' ? 2 : 1);
  if (pattern[at] === ']') at++;
  for (; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern.startsWith('[:', at) && pattern.includes(':]', at)) at = pattern.indexOf(':]', at) + 1;
    else if (pattern[at] === ']') return at;
  }
  return -1;
}

const fault = (what: string, where: string): string => `error parsing regexp: ${what}: \`${where}\``;
