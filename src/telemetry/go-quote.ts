/** Text that needs no escape: most of it. */
const plain = /^[ !#-[\]-~]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

const named = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** A Go string literal, as Go's strconv.Quote writes it: printable letters of any script stay, the rest is escaped. */
export function goQuote(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const letter of text) quoted += escapeLetter(letter);
  return `${quoted}"`;
}

/** As it stands between the quotes. */
export function escapeLetter(letter: string): string {
  const escape = named.get(letter);
  if (escape !== undefined) return escape;
  const code = letter.codePointAt(0) ?? 0;
  // Half of a surrogate pair has no UTF-8; Go would see the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\uFFFD';
  if (printable.test(letter)) return letter;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
