import type { Dice } from '../../simulation/dice.ts';
import { filesOf, type Made } from './case.ts';
import { isMapping, Pairs, withKey, type Mapping, type Tree } from './tree.ts';
import { secretObject, settingsObject, validPod } from './valid-pods.ts';
import { deep, hostileText, hostileValue, prototypeKeys } from './words.ts';

interface Place {
  readonly parent: Mapping | Tree[];
  readonly key: string;
}

/** Every value of a tree, by where it stands. */
function placesIn(tree: Tree, into: Place[] = []): Place[] {
  if (!Array.isArray(tree) && !isMapping(tree)) return into;
  for (const [key, value] of Object.entries(tree)) {
    into.push({ parent: tree, key });
    placesIn(value, into);
  }
  return into;
}

const valueAt = ({ parent, key }: Place): Tree => (parent as Mapping)[key];
const put = ({ parent, key }: Place, value: Tree): void => withKey(parent as Mapping, key, value);

type Change = (dice: Dice, place: Place) => void;

const changes = {
  replace: (dice, place) => put(place, hostileValue(dice, valueAt(place))),
  remove: (dice, place) => put(place, dice.chance(0.5) ? undefined : null),
  nest: (dice, place) => put(place, dice.chance(0.5) ? [valueAt(place)] : { [place.key]: valueAt(place) }),
  repeat: (dice, place) => {
    const value = valueAt(place);
    const times = dice.pick([2, 10, 100, 1_000]);
    put(
      place,
      Array.isArray(value)
        ? Array.from({ length: times }, () => value).flat()
        : Array.from({ length: times }, () => value),
    );
  },
  twice: (dice, place) => {
    const value = valueAt(place);
    if (isMapping(value))
      put(
        place,
        new Pairs([
          ...Object.entries(value),
          ...Object.entries(value).map(([key]) => [key, hostileValue(dice, value[key])] as [string, Tree]),
        ]),
      );
  },
  addKey: (dice, place) => {
    const value = valueAt(place);
    const key = dice.chance(0.6) ? dice.pick(prototypeKeys) : hostileText(dice);
    if (isMapping(value)) withKey(value, key, dice.chance(0.5) ? 'x' : hostileValue(dice, ''));
  },
  rename: (dice, place) => {
    const value = valueAt(place);
    put(place, undefined);
    if (isMapping(place.parent))
      withKey(place.parent, dice.chance(0.5) ? dice.pick(prototypeKeys) : `${place.key}x`, value);
  },
  deepen: (dice, place) => put(place, deep(dice, dice.pick([20, 150, 190, 250]))),
} as const satisfies Record<string, Change>;

const weights = { replace: 12, remove: 3, nest: 2, repeat: 2, twice: 2, addKey: 4, rename: 2, deepen: 1 } as const;

/** Something of a tree, changed: mostly one thing, so that the rest of the pod gets as far as it can. */
function mutate<T extends Tree>(dice: Dice, tree: T, times = dice.pick([1, 1, 1, 2, 4])): T {
  for (let at = 0; at < times; at++) {
    const place = dice.maybePick(placesIn(tree));
    if (place !== undefined) changes[dice.weighted(weights)](dice, place);
  }
  return tree;
}

export function fieldCase(dice: Dice): Made {
  const references = dice.chance(0.5);
  const trees = [mutate(dice, validPod(dice, references))];
  return { trees: references ? [settingsObject(), secretObject(), ...trees] : trees };
}

/** Nothing is wrong with it: what the rest is compared with. */
export function validCase(dice: Dice): Made {
  const references = dice.chance(0.5);
  return { trees: [...(references ? [settingsObject(), secretObject()] : []), validPod(dice, references)] };
}

/** ConfigMaps, Secrets, lists and things that no manifest folder is for. */
export function objectCase(dice: Dice): Made {
  const keys = (): string => (dice.chance(0.6) ? hostileText(dice) : dice.pick(prototypeKeys));
  const data: Mapping = {};
  for (let at = dice.whole(0, 5); at >= 0; at--) withKey(data, keys(), hostileValue(dice, 'text'));
  const choice = dice.pick(['data', 'data', 'mutated', 'mutated', 'list', 'kind', 'many', 'twins'] as const);
  const pod = (): Tree => validPod(dice, true);
  switch (choice) {
    case 'data':
      return { trees: [dice.chance(0.5) ? settingsObject(data) : secretObject(data), pod()] };
    case 'mutated':
      return { trees: [mutate(dice, settingsObject(), 2), mutate(dice, secretObject(), 2), pod()] };
    case 'list':
      return {
        trees: [
          mutate(dice, {
            apiVersion: 'v1',
            kind: dice.pick(['List', 'PodList', 'ConfigMapList']),
            items: [pod(), settingsObject(), 5, null, [], pod()],
          }),
        ],
      };
    case 'kind':
      return {
        files: filesOf(dice, [
          {
            apiVersion: dice.pick(['v1', 'apps/v1', '', 'v2', '__proto__']),
            kind: dice.pick(['Deployment', 'Node', 'pod', '', 'constructor', 'Namespace', 'CustomResourceDefinition']),
            metadata: { name: 'x' },
            spec: hostileValue(dice, {}),
          },
        ]),
      };
    case 'many':
      return {
        trees: Array.from({ length: 20 }, (_, at) => ({
          ...settingsObject({ color: `${at}` }),
          metadata: { name: `many-${at}` },
        })),
      };
    case 'twins':
      return {
        trees: [
          settingsObject({ color: 'one' }),
          settingsObject({ color: 'two' }),
          secretObject({}),
          { ...secretObject(), stringData: data },
          pod(),
        ],
      };
    default:
      return choice satisfies never;
  }
}
