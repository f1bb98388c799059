/**
 * Replaces `$(NAME)` by the value of NAME. `$$` stands for one `$`, so `$$(NAME)` stays `$(NAME)`; what has no value
 * or no closing bracket stays as written.
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  let result = '';
  let position = 0;
  while (position < text.length) {
    const dollar = text.indexOf('$', position);
    if (dollar < 0 || dollar === text.length - 1) return result + text.slice(position);
    result += text.slice(position, dollar);
    const next = text[dollar + 1];
    const closing = next === '(' ? text.indexOf(')', dollar + 2) : -1;
    if (next === '$') {
      result += '$';
      position = dollar + 2;
    } else if (closing >= 0) {
      const name = text.slice(dollar + 2, closing);
      result += lookup(name) ?? `$(${name})`;
      position = closing + 1;
    } else if (next === '(') {
      // An opening without an end: what follows may still hold whole references.
      result += '$(';
      position = dollar + 2;
    } else {
      result += `$${next ?? ''}`;
      position = dollar + 2;
    }
  }
  return result;
}
