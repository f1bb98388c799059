/** The arguments of a subcommand: options with a value, and switches. */
type OptionSpec = Readonly<Record<string, 'value' | 'switch'>>;

interface ParsedOptions<Spec extends OptionSpec> {
  readonly values: { readonly [Name in keyof Spec]?: Spec[Name] extends 'switch' ? true : string };
  /** Messages for the user, one per argument that is not understood. */
  readonly faults: readonly string[];
}

/** Parses `--name value`, `--name=value` and `--switch`. */
export function parseOptions<const Spec extends OptionSpec>(args: readonly string[], spec: Spec): ParsedOptions<Spec> {
  const values: Record<string, string | true> = {};
  const faults: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    const [name, inline] = splitOnce(word.replace(/^--/, ''));
    const kind = word.startsWith('--') && Object.hasOwn(spec, name) ? spec[name] : undefined;
    if (kind === undefined) {
      faults.push(word.startsWith('-') ? `unknown flag: ${word}` : `unexpected argument: ${word}`);
    } else if (kind === 'switch') {
      if (inline !== undefined) faults.push(`--${name} takes no value`);
      values[name] = true;
    } else {
      const value = inline ?? args[++at];
      if (value === undefined || value === '') faults.push(`--${name} needs a value`);
      else values[name] = value;
    }
  }
  return { values: values as ParsedOptions<Spec>['values'], faults };
}

function splitOnce(word: string): readonly [string, string | undefined] {
  const at = word.indexOf('=');
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
