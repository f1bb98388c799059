import { readFileSync } from 'node:fs';

/** What the functions of a Go kubelet answered about units of systemd; numbers as text, bytes in hex. */
interface GoldenSystemd {
  readonly properties: readonly GoldenProperties[];
  readonly rangeToBits: readonly { readonly cpus: string; readonly bytes?: string; readonly error?: string }[];
}

interface GoldenProperties {
  readonly name: string;
  readonly resources: {
    readonly cpuShares?: number;
    readonly cpuQuota?: number;
    readonly cpuPeriod?: number;
    readonly memory?: number;
    readonly pids?: number;
    readonly cpus?: string;
    readonly mems?: string;
    readonly hugetlb?: Readonly<Record<string, string>>;
    readonly unified?: Readonly<Record<string, string>>;
  };
  /** Below zero where it is not known. */
  readonly systemdVersions: readonly number[];
  readonly properties: {
    readonly v1?: readonly GoldenProperty[];
    readonly v2?: readonly GoldenProperty[];
    readonly v1Error?: string;
    readonly v2Error?: string;
  };
}

export type GoldenProperty = readonly [name: string, type: string, value: string];

export const goldenSystemd = (): GoldenSystemd =>
  JSON.parse(readFileSync('test/golden/cgroups/systemd.json', 'utf8')) as GoldenSystemd;
