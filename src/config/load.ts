import { isIP } from 'node:net';
import { Duration } from '../base/duration.ts';
import { buildConfiguration } from './build.ts';
import { gatesOf, withGateDefaults } from './defaults.ts';
import { renderFault, type Fault } from './fault.ts';
import { helpText } from './flags/help.ts';
import { ownFlags, type KubeletFlags } from './flags/own-flags.ts';
import { parseFlags, type ParsedFlags } from './flags/parse.ts';
import { flagTable } from './flags/table.ts';
import { resolveGates, type FeatureGates } from './gates/gates.ts';
import { layOver } from './layers.ts';
import { originOfField, provenanceOf } from './provenance.ts';
import type { KubeletConfiguration } from './schema/fields.ts';
import type { LoadInput, LoadResult } from './settings.ts';
import type { Branch } from './sourced-tree.ts';
import { validate, validationWarnings } from './validate/validate.ts';
import { reportedVersion, versionText } from './version.ts';

/** A configuration after its gates are resolved, with all its faults. */
interface Assessed {
  readonly tree: Branch;
  readonly config: KubeletConfiguration;
  readonly gates: FeatureGates;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** Makes settings from the command line: reads, merges, fills defaults, validates. Reports all faults at once. */
export function loadSettings(input: LoadInput): LoadResult {
  const { values, faults: flagFaults } = parseFlags(input.argv);
  if (flagFaults.length > 0) return failure(flagFaults);
  if (values.get('help') === true) return { kind: 'help', text: helpText() };
  const wantedVersion = values.get('version') as string | undefined;
  const text = versionText(wantedVersion, input.version);
  if (text !== undefined) return { kind: 'version', text };
  const reported = reportedVersion(wantedVersion, input.version);
  if ('fault' in reported) return failure([reported.fault]);

  const flags = ownFlags(values);
  const layers = layOver(flags, values, input.cwd, input);
  // Without the values that could not be read, validation would only complain about their defaults.
  if (layers.faults.length > 0) return failure([...layers.warnings, ...layers.faults].map(renderFault));
  const assessed = assess(layers.tree, flags);
  if (assessed.faults.length > 0) return failure(assessed.faults.map(renderFault));
  const settings = deepFreeze({
    flags,
    config: assessed.config,
    featureGates: assessed.gates,
    provenance: provenanceOf(assessed.tree, [...values.keys()]),
    version: reported.version,
  });
  const warnings = [
    ...deprecations(values),
    ...[...layers.warnings, ...assessed.warnings].map(renderFault),
    ...oddAddresses(assessed.config, flags),
  ];
  return { kind: 'run', settings, warnings };
}

/** Resolves the gates of a merged configuration and validates everything. */
export function assess(merged: Branch, flags?: KubeletFlags): Assessed {
  const { gates, faults: gateFaults, warnings } = resolveGates(gatesOf(merged));
  const tree = withGateDefaults(merged, 'NeverVerifyPreloadedImages', Duration.ofSeconds(300));
  const config = buildConfiguration(tree);
  const located = (fault: Fault): Fault =>
    fault.field.startsWith('--') ? fault : { ...fault, origin: originOfField(tree, fault.field) };
  const faults = [...gateFaults, ...validate(flags === undefined ? { config, gates } : { config, gates, flags })];
  const odd = validationWarnings({ config, gates });
  return { tree, config, gates, faults: faults.map(located), warnings: [...warnings, ...odd].map(located) };
}

function failure(messages: readonly string[]): LoadResult {
  return { kind: 'error', messages, exitCode: 1 };
}

function deprecations(values: ParsedFlags['values']): readonly string[] {
  return flagTable.flatMap(({ name, deprecated, field }) => {
    if (deprecated === undefined || !values.has(name)) return [];
    const advice = {
      field: `set ${field} in the file given with --config instead`,
      unneeded: 'it will go away and nothing replaces it',
      stray: 'it came from a statistics library and has no effect',
    }[deprecated];
    return [`Flag --${name} has been deprecated, ${advice}`];
  });
}

/** Addresses that are ignored rather than refused. */
function oddAddresses(config: KubeletConfiguration, flags: KubeletFlags): readonly string[] {
  const words = flags.nodeIp.split(',').map((word) => word.trim());
  return [
    ...config.clusterDNS
      .filter((address) => isIP(address) === 0)
      .map((address) => `clusterDNS: ${JSON.stringify(address)} is not an IP address and is left out`),
    ...words
      .filter((word) => word !== '' && isIP(word) === 0)
      .map((word) => `--node-ip: ${JSON.stringify(word)} is not an IP address and is left out`),
  ];
}

/** Freezes a value with everything in it. Values with private state protect that themselves. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}
