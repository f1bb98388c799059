import type { Dice } from '../../simulation/dice.ts';
import { textOf, type Tree } from './tree.ts';

/** `folder`: a node alone, with the ConfigMaps and Secrets of its folder; `cluster`: a node with an API server. */
export type WorldKind = 'folder' | 'cluster';

export interface ManifestFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Everything that is thrown at a node in one moment. */
export interface ManifestCase {
  readonly kind: string;
  readonly world: WorldKind;
  /** All of them appear in the manifest folder at once. */
  readonly files: readonly ManifestFile[];
  /** Pods and objects of the API server. It decodes what it is given, and here it validates nothing but the name. */
  readonly objects: readonly Tree[];
}

/** What a kind of case gives; the rest is decided alike for all. */
export interface Made {
  readonly world?: WorldKind;
  readonly files?: readonly ManifestFile[];
  /** Trees that become manifests, or objects of the API server. */
  readonly trees?: readonly Tree[];
}

export type MakeCase = (dice: Dice) => Made;

export const file = (name: string, content: Buffer | string): ManifestFile => ({
  name,
  bytes: typeof content === 'string' ? Buffer.from(content, 'utf8') : content,
});

/** Whether a name comes before or behind that of the good pod's manifest decides who is first. */
export const fileName = (dice: Dice): string =>
  `${dice.pick(['a', 'z'])}-${dice.pick(['pod', 'pod', 'x'.repeat(200), 'ünï cödé', 'a b\tc'])}.${dice.pick(['yaml', 'yml', 'json'])}`;

/** Trees as manifests: one file each, or several documents, or a list. */
export function filesOf(dice: Dice, trees: readonly Tree[]): readonly ManifestFile[] {
  const style = dice.pick(['json', 'block', 'flow'] as const);
  if (trees.length === 1 || dice.chance(0.5)) {
    return trees.map((tree, at) => file(`${at}${fileName(dice)}`.slice(at === 0 ? 1 : 0), textOf(tree, style)));
  }
  return dice.chance(0.5)
    ? [file(fileName(dice), trees.map((tree) => textOf(tree, 'flow')).join('\n---\n'))]
    : [
        file(
          fileName(dice),
          textOf({ apiVersion: 'v1', kind: dice.pick(['List', 'PodList']), items: [...trees] }, style),
        ),
      ];
}
