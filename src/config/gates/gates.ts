import { TubeletError } from '../../base/errors.ts';
import { nearest } from '../../base/nearest.ts';
import type { Fault } from '../fault.ts';
import { otherGates } from './other-gates.ts';
import { agentGates, type GateName, type GateSpec, type GateStage } from './table.ts';

export interface FeatureGates {
  enabled(name: GateName): boolean;
  /** Every known gate with its effective value, by name. */
  readonly all: Readonly<Record<string, boolean>>;
}

interface ResolvedGates {
  readonly gates: FeatureGates;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

const specs: ReadonlyMap<string, GateSpec> = new Map<string, GateSpec>([
  ...Object.entries(agentGates),
  ...[...otherGates].map(([name, on]) => [name, { stage: 'other', default: on, locked: false }] as const),
]);

/** Switches of a whole stage: each one sets the gates of its stage that are not set by name. */
const groups: ReadonlyMap<string, GateStage> = new Map([
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
]);

export const knownGates: readonly string[] = [...groups.keys(), ...specs.keys()];

export function gateSpec(name: string): GateSpec | undefined {
  return specs.get(name);
}

/** The effective gates for the requested ones; a refused request leaves the gate at its default. */
export function resolveGates(wanted: Readonly<Record<string, boolean>>): ResolvedGates {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  const values = new Map<string, boolean>([...specs].map(([name, spec]) => [name, spec.default]));
  for (const [group, stage] of groups) {
    values.set(group, wanted[group] ?? false);
    if (wanted[group] === undefined) continue;
    for (const [name, spec] of specs) if (spec.stage === stage) values.set(name, wanted[group]);
  }
  for (const [name, value] of Object.entries(wanted)) {
    if (groups.has(name)) continue;
    const field = `featureGates.${name}`;
    const spec = specs.get(name);
    if (spec === undefined) {
      faults.push({ field, message: unknownMessage(name) });
    } else if (spec.locked && value !== spec.default) {
      faults.push({ field, message: `this gate is locked to ${spec.default} and cannot be ${value}; remove it` });
    } else {
      values.set(name, value);
      if (spec.stage === 'ga' || spec.stage === 'deprecated') warnings.push({ field, message: agingMessage(spec) });
    }
  }
  return { gates: freezeGates(values), faults, warnings };
}

function unknownMessage(name: string): string {
  const known = nearest(name, knownGates);
  return `unknown feature gate${known === undefined ? '; remove it' : `, did you mean ${known}?`}`;
}

function agingMessage({ stage }: GateSpec): string {
  return stage === 'ga'
    ? 'the feature is generally available and its gate will go away; remove it'
    : 'the gate is deprecated and will go away';
}

function freezeGates(values: ReadonlyMap<string, boolean>): FeatureGates {
  return Object.freeze({
    all: Object.freeze(Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))),
    enabled(name: GateName): boolean {
      const value = values.get(name);
      // A misspelt gate in code must not read as "off".
      if (value === undefined) throw new TubeletError('internal', `no such feature gate: ${name}`);
      return value;
    },
  });
}
