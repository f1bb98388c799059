import type { KubeletFlags } from './flags/own-flags.ts';
import type { FeatureGates } from './gates/gates.ts';
import type { Provenance } from './provenance.ts';
import type { KubeletConfiguration } from './schema/fields.ts';

/** All settings of the agent: complete, validated and frozen. Made once, before any component starts. */
export interface Settings {
  readonly flags: KubeletFlags;
  readonly config: KubeletConfiguration;
  readonly featureGates: FeatureGates;
  readonly provenance: Provenance;
  /** The version to report, `v1.34.0+tubelet.…` unless the command line sets another. */
  readonly version: string;
}

export type LoadResult =
  | { readonly kind: 'run'; readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly text: string }
  | { readonly kind: 'error'; readonly messages: readonly string[]; readonly exitCode: number };

interface DirectoryEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** The files behind `--config` and `--config-dir`. Reading is synchronous: nothing else runs yet. */
export interface ConfigFiles {
  readonly readFile: (path: string) => string;
  readonly listDir: (path: string) => readonly DirectoryEntry[];
}

export interface LoadInput extends ConfigFiles {
  /** The words behind the program's name. */
  readonly argv: readonly string[];
  /** The version of tubelet itself. */
  readonly version: string;
  /** Where relative paths of the command line start. */
  readonly cwd: string;
}
