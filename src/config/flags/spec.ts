import type { Duration } from '../../base/duration.ts';
import type { Quantity } from '../../model/quantity.ts';

type Texts = Readonly<Record<string, string>>;

/** The value that each type of flag has once parsed. */
export interface FlagValues {
  readonly bool: boolean;
  readonly string: string;
  readonly ip: string;
  readonly int: number;
  readonly int32: number;
  /** A log level. */
  readonly level: number;
  readonly duration: Duration;
  readonly quantity: Quantity;
  /** `a,b` */
  readonly strings: readonly string[];
  /** `k=v,k2=v2` */
  readonly map: Texts;
  /** One `k=v` in each flag, so that values may hold commas. */
  readonly pairMap: Texts;
  /** `k<v,k2<v2` */
  readonly angleMap: Texts;
  /** `k=v,k2`: the value may be left out. */
  readonly labels: Texts;
  /** `Name=true,Other=false` */
  readonly boolMap: Readonly<Record<string, boolean>>;
  /** `name:value,name:other` */
  readonly multimap: Readonly<Record<string, readonly string[]>>;
  /** `key=value:effect,...`; the one type of list where a later flag replaces an earlier one. */
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  /** `0:memory=1Gi,hugepages-1Gi=2Gi;1:memory=1Gi` */
  readonly reservedMemory: readonly {
    readonly numaNode: number;
    readonly limits: Readonly<Record<string, Quantity>>;
  }[];
  /** `pattern=2,other=3` */
  readonly vmodule: readonly { readonly filePattern: string; readonly verbosity: number }[];
  readonly version: string;
}

export type FlagType = keyof FlagValues;

/** Why a flag is deprecated: a field replaces it, nothing replaces it, or a library exposed it by accident. */
type Deprecation = 'field' | 'unneeded' | 'stray';

export interface FlagSpec {
  readonly name: string;
  readonly type: FlagType;
  /** As the command line would spell it. */
  readonly default: string;
  /** Dotted path of the configuration field that the flag sets. */
  readonly field: string | undefined;
  readonly deprecated: Deprecation | undefined;
}

interface Spec<N, T, F, D> {
  readonly name: N;
  readonly type: T;
  readonly default: string;
  readonly field: F;
  readonly deprecated: D;
}

/** A flag that a configuration field replaces. */
export function field<const N extends string, const T extends FlagType>(
  name: N,
  type: T,
  byDefault: string,
  path: string,
): Spec<N, T, string, 'field'> {
  return { name, type, default: byDefault, field: path, deprecated: 'field' };
}

/** A flag with a configuration field, neither of which is deprecated. */
export function keptField<const N extends string, const T extends FlagType>(
  name: N,
  type: T,
  byDefault: string,
  path: string,
): Spec<N, T, string, undefined> {
  return { name, type, default: byDefault, field: path, deprecated: undefined };
}

/** A flag without a configuration field. */
export function own<const N extends string, const T extends FlagType>(
  name: N,
  type: T,
  byDefault: string,
): Spec<N, T, undefined, undefined> {
  return { name, type, default: byDefault, field: undefined, deprecated: undefined };
}

/** A flag that will be removed without a successor. */
export function aged<const N extends string, const T extends FlagType>(
  name: N,
  type: T,
  byDefault: string,
): Spec<N, T, undefined, 'unneeded'> {
  return { name, type, default: byDefault, field: undefined, deprecated: 'unneeded' };
}

/** A flag of a statistics library that became public by accident. */
export function stray<const N extends string, const T extends FlagType>(
  name: N,
  type: T,
  byDefault: string,
): Spec<N, T, undefined, 'stray'> {
  return { name, type, default: byDefault, field: undefined, deprecated: 'stray' };
}
