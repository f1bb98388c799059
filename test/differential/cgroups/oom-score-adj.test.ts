import { allContainers } from '../../../src/model/containers.ts';
import { oomScoreAdjust } from '../../../src/model/oom-score.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';
import { recordedPods } from './recorded-pods.ts';

interface OomScores {
  readonly memoryCapacities: readonly number[];
  readonly pods: Readonly<Record<string, { readonly scores: Readonly<Record<string, readonly number[]>> }>>;
}

const { memoryCapacities, pods: recorded } = loadTable<OomScores>('cgroups/oom-score-adj');

compareRows(
  'oom-score-adj',
  [...recordedPods()].flatMap(([name, pod]) =>
    allContainers(pod.spec).map(({ container }) => ({
      key: `${name} ${container.name}`,
      recorded: recorded[name]?.scores[container.name],
      ours: () => memoryCapacities.map((capacity) => oomScoreAdjust(pod, container, BigInt(capacity))),
    })),
  ),
  differences,
);
