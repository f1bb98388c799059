import type { YamlDocument } from '../../base/yaml.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { StandaloneObject } from '../../model/standalone-object.ts';
import type { StaticPodOrigin, StaticPodRules } from '../../model/static-pod.ts';
import type { FieldPath, PodRules } from '../../model/validation/index.ts';

/** Besides where a text comes from: what it may hold. With `allowFolderObjects` ConfigMaps and Secrets, too. */
export interface ManifestOptions extends StaticPodOrigin, StaticPodRules {
  readonly rules: PodRules;
}

export interface Finding {
  /** 1-based; absent where the finding is about the text as a whole. */
  readonly line?: number;
  readonly message: string;
}

/** What a text asks for. */
export interface Contents {
  readonly pods: readonly DesiredPod[];
  readonly objects: readonly StandaloneObject[];
}

export interface Manifest extends Contents {
  /** What was accepted but was hardly meant that way. */
  readonly warnings: readonly Finding[];
  /** Why some or all of the text could not be accepted. */
  readonly faults: readonly Finding[];
}

/** One object of a text: what stands there, where in its document, and the line of each of its fields. */
export interface Item {
  readonly kind: 'Pod' | 'ConfigMap' | 'Secret';
  readonly value: unknown;
  readonly lineOf: (path: FieldPath) => number;
}

/** Collects the findings about a text. */
export interface Findings {
  readonly warnings: Finding[];
  readonly faults: Finding[];
}

export function itemAt(document: YamlDocument, kind: Item['kind'], value: unknown, prefix: FieldPath): Item {
  return { kind, value, lineOf: (path) => document.lineOf([...prefix, ...path]) };
}

/** A text of which nothing could be accepted. */
export function unreadable(message: string): Manifest {
  return { pods: [], objects: [], warnings: [], faults: [{ message }] };
}

/** The text of some bytes; undefined if they are none. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Its only failure with `fatal`: bytes that are no text.
    return undefined;
  }
}
