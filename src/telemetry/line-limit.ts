/** Longer lines are cut: journals and runtimes split them, and what a workload wrote must not fill a disk. */
export const maxLineBytes = 10 * 1024;

/** The text, or as much of it as fits with a word on how long it was; its line break stays. */
export function cutLine(text: string): string {
  // No letter has more than three bytes for each of its units.
  if (text.length * 3 <= maxLineBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxLineBytes) return text;
  const mark = `… (${bytes.length} bytes in all)\n`;
  let end = maxLineBytes - Buffer.byteLength(mark);
  // Not within a letter.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end) + mark;
}

/** The text, or its first letters with a word on how many there were. */
export function cutLetters(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length} letters in all)`;
}
