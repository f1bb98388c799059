import { TubeletError } from '../base/errors.ts';

/** Files whose name matches the pattern log up to this verbosity. */
export interface VmoduleRule {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** Reads the flag: `pattern=N,...`. */
export function parseVmodule(text: string): VmoduleRule[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const match = /^([^=]+)=(\d{1,9})$/.exec(part);
      if (match?.[1] === undefined)
        throw new TubeletError('invalid', `vmodule: "${part}" is not of the form pattern=N`);
      return { filePattern: match[1], verbosity: Number(match[2]) };
    });
}

/** A function from a file's base name to its verbosity; the first pattern that matches decides, 0 where none does. */
export function vmoduleVerbosity(rules: readonly VmoduleRule[]): (file: string) => number {
  const compiled = rules.map(({ filePattern, verbosity }) => ({ pattern: globPattern(filePattern), verbosity }));
  return (file) => {
    const name = file.replace(/\.[^.]*$/, '');
    return compiled.find(({ pattern }) => pattern.test(name))?.verbosity ?? 0;
  };
}

function globPattern(glob: string): RegExp {
  const source = glob.replace(/[.*+?^${}()|[\]\\]/g, (letter) => {
    if (letter === '*') return '.*';
    return letter === '?' ? '.' : `\\${letter}`;
  });
  return new RegExp(`^${source}$`, 'su');
}
