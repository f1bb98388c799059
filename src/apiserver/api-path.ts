import { TubeletError } from '../base/errors.ts';
import type { ApiResource } from '../model/api-resources.ts';

export interface PathParts {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** The path of a request. Every part is encoded, so that a name never reaches into another path. */
export function apiPath(resource: ApiResource, parts: PathParts): string {
  const { group, version, plural, namespaced } = resource;
  const { namespace, name, subresource } = parts;
  const steps = group === '' ? ['api', version] : ['apis', group, version];
  if (namespace !== undefined && namespaced) steps.push('namespaces', checked('namespace', namespace));
  steps.push(plural);
  if (name !== undefined) {
    if (namespaced && namespace === undefined) {
      throw new TubeletError('invalid', `${plural} ${name}: a name needs its namespace`);
    }
    steps.push(checked('name', name));
  }
  if (subresource !== undefined) steps.push(...subresource.split('/'));
  return `/${steps.map(encodeURIComponent).join('/')}${queryOf(parts.query ?? {})}`;
}

/** Rejects an empty part, `.` and `..`, which would change the meaning of the path. */
function checked(what: string, value: string): string {
  if (value === '' || value === '.' || value === '..' || value.includes('/')) {
    throw new TubeletError('invalid', `${JSON.stringify(value)} is not a valid ${what} of an object`);
  }
  return value;
}

function queryOf(query: NonNullable<PathParts['query']>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** The description of a request in errors and logs. */
export function describeRequest(method: string, { plural }: ApiResource, parts: PathParts): string {
  const { namespace, name, subresource } = parts;
  const place = [namespace, name].filter((part) => part !== undefined).join('/');
  const below = subresource === undefined ? '' : `/${subresource}`;
  return `${method} ${plural}${below}${place === '' ? '' : ` ${place}`}`;
}
