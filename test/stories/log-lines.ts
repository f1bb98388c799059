import { parseLogLine, type CriLogLine } from '../../src/pods/logs/index.ts';

/** The lines of a log file; every one must be in the form of CRI, and the last must have an end. */
export function criLines(text: string): readonly CriLogLine[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error(`the log breaks off: ${text.slice(-200)}`);
  return text
    .split('\n')
    .slice(0, -1)
    .map((one) => {
      const line = parseLogLine(Buffer.from(one));
      if (line === undefined) throw new Error(`not in the form of CRI: ${one}`);
      return line;
    });
}

/** What a program wrote, from the parts into which the runtime divided it. */
export function textOf(lines: readonly CriLogLine[], stream?: string): string {
  return lines
    .filter((line) => stream === undefined || line.stream === stream)
    .map(({ content, partial }) => content.toString() + (partial ? '' : '\n'))
    .join('');
}
