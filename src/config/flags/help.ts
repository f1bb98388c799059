import { flagDescriptions } from './descriptions.ts';
import { shorthandOf } from './parse.ts';
import type { FlagSpec, FlagType } from './spec.ts';
import { flagGroups } from './table.ts';

/** The placeholder for the value of each type of flag; undefined for types that need no value. */
const placeholders: Readonly<Record<FlagType, string>> = {
  bool: '',
  string: 'TEXT',
  ip: 'ADDRESS',
  int: 'N',
  int32: 'N',
  level: 'LEVEL',
  duration: 'DURATION',
  quantity: 'QUANTITY',
  strings: 'A,B,...',
  map: 'NAME=VALUE,...',
  pairMap: 'NAME=VALUE',
  angleMap: 'NAME<VALUE,...',
  labels: 'KEY=VALUE,...',
  boolMap: 'NAME=BOOL,...',
  multimap: 'NAME:VALUE,...',
  taints: 'KEY=VALUE:EFFECT,...',
  reservedMemory: 'NODE:TYPE=QUANTITY,...',
  vmodule: 'PATTERN=LEVEL,...',
  version: '[=raw]',
};

/** The help text: every flag by topic, with its default and description. */
export function helpText(): string {
  const sections = flagGroups.map(({ title, flags }) => `${title}:\n${flags.map(helpOf).join('')}`);
  return `The node agent: keeps the pods of this machine running.

Usage:
  tubelet [flags]

If a field is in brackets, prefer to set it in the configuration file (--config);
a flag beats the file and its drop-ins (--config-dir).

${sections.join('\n')}`;
}

function helpOf(spec: FlagSpec & { readonly name: keyof typeof flagDescriptions }): string {
  const letter = shorthandOf(spec.name);
  const placeholder = placeholders[spec.type];
  const separator = placeholder === '' || placeholder.startsWith('[') ? '' : ' ';
  const names = `${letter === undefined ? '    ' : `-${letter}, `}--${spec.name}${separator}${placeholder}`;
  const notes = [
    ...(isWorthShowing(spec) ? [`(default ${spec.default})`] : []),
    ...(spec.deprecated === 'field' ? [`[${spec.field}]`] : []),
    ...(spec.deprecated === 'unneeded' || spec.deprecated === 'stray' ? ['[deprecated]'] : []),
  ];
  return `  ${names}\n          ${[flagDescriptions[spec.name], ...notes].join(' ')}\n`;
}

function isWorthShowing({ type, default: value }: FlagSpec): boolean {
  return value !== '' && !(type === 'bool' && value === 'false');
}
