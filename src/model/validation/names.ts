import { isIP } from 'node:net';

/** Rules for texts. Each returns what is wrong, or undefined for a valid text. */
export type TextRule = (value: string) => string | undefined;

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const labelPattern = new RegExp(`^${label}$`);
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`);
const searchPattern = /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$/;
const qualifiedPattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const uidPattern = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const portNamePattern = /^[-a-z0-9]+$/;
const headerPattern = /^[-A-Za-z0-9]+$/;
const sysctlPattern = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

export const dnsLabel: TextRule = (value) => {
  if (value.length > 63) return tooLong(63);
  return labelPattern.test(value)
    ? undefined
    : `must be a DNS label: lower-case letters, digits and '-', beginning and ending with a letter or digit`;
};

export const dnsSubdomain: TextRule = (value) => {
  if (value.length > 253) return tooLong(253);
  return subdomainPattern.test(value)
    ? undefined
    : `must be a DNS name: labels of lower-case letters, digits and inner '-', joined by '.'`;
};

/** Search domains may be `.`, end in a dot and have underscores, as resolvers take them. */
export const dnsSearch: TextRule = (value) => {
  if (value === '.') return undefined;
  const name = value.endsWith('.') ? value.slice(0, -1) : value;
  if (name.length > 253) return tooLong(253);
  return searchPattern.test(name)
    ? undefined
    : `must be a DNS name: labels of lower-case letters, digits, '_' and inner '-', joined by '.'`;
};

/** `name` or `prefix.example.com/name`: keys of labels, annotations, resources, conditions. */
export const qualifiedName: TextRule = (value) => {
  const parts = value.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) return `must be a name or a DNS name, '/' and a name`;
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') return 'the part before the slash must not be empty';
    const wrong = dnsSubdomain(prefix);
    if (wrong !== undefined) return `the part before the slash ${wrong}`;
  }
  if (name === '') return 'the name must not be empty';
  if (name.length > 63) return `the name ${tooLong(63)}`;
  return qualifiedPattern.test(name)
    ? undefined
    : `the name must be letters, digits, '-', '_' and '.', beginning and ending with a letter or digit`;
};

export const labelValue: TextRule = (value) => {
  if (value.length > 63) return tooLong(63);
  return value === '' || qualifiedPattern.test(value)
    ? undefined
    : `must be empty or letters, digits, '-', '_' and '.', beginning and ending with a letter or digit`;
};

/** Becomes a folder name and a part of a cgroup's. */
export const podUidText: TextRule = (value) =>
  uidPattern.test(value) ? undefined : 'must be letters, digits and dashes, at most 63 of them';

export const portName: TextRule = (value) => {
  if (value.length === 0 || value.length > 15) return 'must have 1 to 15 characters';
  if (!portNamePattern.test(value)) return `must be lower-case letters, digits and '-'`;
  if (!/[a-z]/.test(value)) return 'must have at least one letter';
  if (value.includes('--')) return `must not have two '-' in a row`;
  return value.startsWith('-') || value.endsWith('-') ? `must not begin or end with '-'` : undefined;
};

export function portNumber(value: number): string | undefined {
  return value >= 1 && value <= 65535 ? undefined : 'must be between 1 and 65535';
}

/** Anything printable that the `name=value` form of the environment can carry. */
export const environmentName: TextRule = (value) => {
  if (value === '') return 'must not be empty';
  return /^[ -<>-~]+$/.test(value) ? undefined : `must be printable ASCII characters other than '='`;
};

export const configKey: TextRule = (value) => {
  if (value.length > 253) return tooLong(253);
  if (value === '.' || value === '..' || value.startsWith('..')) return `must not begin with '..' or be '.'`;
  return /^[-._a-zA-Z0-9]+$/.test(value) ? undefined : `must be letters, digits, '-', '_' and '.'`;
};

export const headerName: TextRule = (value) =>
  headerPattern.test(value) ? undefined : `must be letters, digits and '-'`;

export const sysctlName: TextRule = (value) => {
  if (value.length > 253) return tooLong(253);
  return sysctlPattern.test(value) ? undefined : `must be lower-case words joined by '.' or '/'`;
};

export const ipAddress: TextRule = (value) =>
  isIP(value) === 0 ? 'must be an IP address such as 10.9.8.7 or 2001:db8::ffff' : undefined;

export function userId(value: number): string | undefined {
  return value >= 0 && value <= 2_147_483_647 ? undefined : 'must be between 0 and 2147483647';
}

/** A path that stays below the place it is joined to. */
export const descendingPath: TextRule = (value) =>
  value.startsWith('/') ? 'must be a relative path' : noBacksteps(value);

export const noBacksteps: TextRule = (value) => (value.split('/').includes('..') ? `must not contain '..'` : undefined);

/** As `descendingPath`; names beginning with two dots belong to the atomic writer of volumes. */
export const unreservedPath: TextRule = (value) => {
  const wrong = descendingPath(value);
  if (wrong !== undefined) return wrong;
  return value.startsWith('..') ? `must not start with '..'` : undefined;
};

function tooLong(limit: number): string {
  return `must be no more than ${limit} characters`;
}
