import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { Dice } from '../../simulation/dice.ts';
import { amplifyCase, expansionCase, hugeCase } from './bomb-cases.ts';
import { filesOf, type MakeCase, type ManifestCase } from './case.ts';
import { fieldCase, objectCase, validCase } from './field-cases.ts';
import { identityCase, pathCase } from './path-cases.ts';
import { settingCase } from './setting-cases.ts';
import { bytesCase, folderCase, yamlCase } from './text-cases.ts';

interface Kind {
  readonly make: MakeCase;
  /** How often it is tried. */
  readonly weight: number;
}

const kinds = {
  valid: { make: validCase, weight: 3 },
  field: { make: fieldCase, weight: 24 },
  setting: { make: settingCase, weight: 20 },
  path: { make: pathCase, weight: 16 },
  object: { make: objectCase, weight: 7 },
  identity: { make: identityCase, weight: 7 },
  bytes: { make: bytesCase, weight: 10 },
  yaml: { make: yamlCase, weight: 8 },
  folder: { make: folderCase, weight: 2 },
  expansion: { make: expansionCase, weight: 4 },
  huge: { make: hugeCase, weight: 6 },
  amplify: { make: amplifyCase, weight: 2 },
} as const satisfies Record<string, Kind>;
type KindName = keyof typeof kinds;

export const kindNames = Object.keys(kinds) as KindName[];
const weights = Object.fromEntries(Object.entries(kinds).map(([name, { weight }]) => [name, weight])) as Record<
  KindName,
  number
>;

/** Case number `number` of a seed: the same one whenever it is asked for. */
export function makeCase(seed: number, number: number): ManifestCase {
  const dice = new Dice(seededRandom(seed * 1_000_003 + number));
  const kind = dice.weighted(weights);
  const { world, files = [], trees = [] } = kinds[kind].make(dice);
  const chosen = world ?? dice.pick(['folder', 'cluster']);
  if (chosen === 'folder') return { kind, world: chosen, files: [...files, ...filesOf(dice, trees)], objects: [] };
  const isStatic = dice.chance(0.4);
  return {
    kind,
    world: chosen,
    files: isStatic ? [...files, ...filesOf(dice, trees)] : files,
    objects: isStatic ? [] : trees,
  };
}
