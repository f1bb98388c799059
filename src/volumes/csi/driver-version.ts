import { dnsSubdomain } from '../../model/validation/names.ts';

/** A version of the protocol, 1.x. */
export interface DriverVersion {
  readonly text: string;
  readonly minor: number;
  readonly patch: number;
}

const versionPattern = /^\s*v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+.].*)?\s*$/;
const spokenMajor = 1;

/**
 * The highest version of a driver that the agent supports; undefined when there is none. All of 1.x are compatible; 0.x is
 * obsolete, and 2.x is not defined yet.
 */
export function highestVersion(versions: readonly string[]): DriverVersion | undefined {
  const known = versions.flatMap((text) => {
    const [, major, minor, patch = '0'] = versionPattern.exec(text) ?? [];
    return Number(major) === spokenMajor ? [{ text: text.trim(), minor: Number(minor), patch: Number(patch) }] : [];
  });
  return known.toSorted(compareVersions).at(-1);
}

/** Below zero when the first is the lower one. */
export function compareVersions(one: DriverVersion, other: DriverVersion): number {
  return one.minor - other.minor || one.patch - other.patch;
}

const maxNameLength = 63;

/** What is wrong with a driver's name: it becomes a folder, a key in the API and part of a path. */
export function driverNameProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name.length > maxNameLength) return `must be no more than ${maxNameLength} characters`;
  return dnsSubdomain(name.toLowerCase());
}

/** What is wrong with a driver's endpoint. */
export function endpointProblem(endpoint: string): string | undefined {
  return endpoint.startsWith('/') ? undefined : 'must be the absolute path of a unix socket';
}
