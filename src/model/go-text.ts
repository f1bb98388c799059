/** Texts as Go prints them, where other programs compare or show them byte for byte. */

const named: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Characters other than letters, marks, numbers, punctuation, symbols and the plain space are not printable. */
const special = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** A text in double quotes with escapes, as `%q` prints it. */
export function goQuote(text: string): string {
  return `"${text.replace(special, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const short = named[character];
  if (short !== undefined) return short;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** JSON in which the characters that mean something to HTML and two line separators are escaped as well. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
