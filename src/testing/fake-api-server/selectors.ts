import type { FakeKind } from './kinds.ts';
import type { Stored } from './json.ts';
import { badRequest } from './refusal.ts';

export type Selects = (object: Stored) => boolean;

/** Which objects a request means: its namespace and its selectors. */
export function selectorOf(kind: FakeKind, namespace: string | undefined, query: URLSearchParams): Selects {
  const tests = [
    ...(namespace === undefined ? [] : [(object: Stored) => object.metadata.namespace === namespace]),
    ...fieldTests(kind, query.get('fieldSelector') ?? ''),
    ...labelTests(query.get('labelSelector') ?? ''),
  ];
  return (object) => tests.every((test) => test(object));
}

export function hasSelector(query: URLSearchParams): boolean {
  return (query.get('fieldSelector') ?? '') !== '' || (query.get('labelSelector') ?? '') !== '';
}

function fieldTests(kind: FakeKind, text: string): readonly Selects[] {
  return partsOf(text).map((part) => {
    const [, field = '', operator = '', wanted = ''] = /^([^=!]+)(==|!=|=)(.*)$/.exec(part) ?? [];
    if (field === '') throw badRequest(`invalid field selector; can't understand '${part}'`);
    const read = fieldReader(kind, field);
    return operator === '!=' ? (object) => read(object) !== wanted : (object) => read(object) === wanted;
  });
}

function fieldReader(kind: FakeKind, field: string): (object: Stored) => string {
  if (field === 'metadata.name') return ({ metadata }) => metadata.name;
  if (field === 'metadata.namespace') return ({ metadata }) => metadata.namespace ?? '';
  const read = kind.fields[field];
  if (read !== undefined) return read;
  // Kinds that know fields of their own say it in other words.
  if (Object.keys(kind.fields).length > 0) throw badRequest(`field label not supported: ${field}`);
  throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

const requirement = /^(!)?\s*([\w./-]+)\s*(?:(==|!=|=)\s*([\w.-]*)|(in|notin)\s*\(([^()]*)\))?$/;

function labelTests(text: string): readonly Selects[] {
  return partsOf(text).map((part) => {
    const match = requirement.exec(part.trim());
    if (match === null) {
      throw badRequest(`found '${part.trim()[0] ?? ''}', expected: !, identifier, or 'end of string'`);
    }
    const [, not, key = '', operator, value = '', set, list = ''] = match;
    const labelOf = ({ metadata }: Stored): string | undefined => metadata.labels?.[key];
    const values = set === undefined ? [value] : list.split(',').map((entry) => entry.trim());
    const isAmong = (object: Stored): boolean =>
      values.includes(labelOf(object) ?? '') && labelOf(object) !== undefined;
    if (operator === undefined && set === undefined)
      return (object) => (labelOf(object) === undefined) === (not === '!');
    return operator === '!=' || set === 'notin' ? (object) => !isAmong(object) : isAmong;
  });
}

/** Split at the commas that are not within brackets. */
function partsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(/,(?![^(]*\))/);
}
