import { mask } from '../base/masked.ts';
import { maskedConfiguration } from './configz.ts';
import { camelCase } from './flags/own-flags.ts';
import type { FlagValue } from './flags/parse.ts';
import { flagTable } from './flags/table.ts';
import { writeFlag } from './flags/write-value.ts';
import type { Settings } from './settings.ts';

/** Flags that print something instead of running the agent. */
const questions: ReadonlySet<string> = new Set(['help', 'version']);
const secrets: ReadonlySet<string> = new Set(['storage-driver-password']);

/** Every flag with its effective value, from whichever source, as a command line would write it; secrets masked. */
export function toFlagz(settings: Pick<Settings, 'flags' | 'config'>): readonly (readonly [string, string])[] {
  const config = maskedConfiguration(settings.config);
  return flagTable
    .filter(({ name }) => !questions.has(name))
    .map(({ name, type, field }) => {
      if (secrets.has(name)) return [name, mask] as const;
      const value = field === undefined ? at(settings.flags, [camelCase(name)]) : at(config, field.split('.'));
      return [name, value === undefined ? '' : writeFlag(type, value as FlagValue)] as const;
    });
}

function at(value: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Readonly<Record<string, unknown>>)[step], value);
}
