import type { NamespacedName } from '../model/pod-reference.ts';
import type { ShutdownAnswer } from '../model/shutdown-request.ts';
import type { ShutdownProgress } from './node-shutdown.ts';
import { planLines } from './plan.ts';

type Progress = Pick<ShutdownAnswer, 'lines' | 'end'>;

/** The lines for the one who requested the shutdown, after one more piece of progress. */
export function addProgress({ lines }: Progress, progress: ShutdownProgress): Progress {
  const add = (...more: readonly string[]): readonly string[] => [...lines, ...more];
  switch (progress.kind) {
    case 'began':
      return { lines: ['The node takes no new pods.', ...planLines(progress.plan)] };
    case 'groupEnded': {
      const { priority, tookMs, late } = progress.group;
      const took = `${(tookMs / 1_000).toFixed(1)} s`;
      return { lines: add(`priority ${priority} and above: over after ${took}${listed(', not in time', late)}`) };
    }
    case 'ended': {
      const { pods, node } = progress.unflushed;
      const isFlushed = pods.length === 0 && !node;
      const what = isFlushed
        ? 'Everything that had to be said has been said.'
        : `The API server does not know of it${listed(', not of', pods)}.`;
      return { lines: add(what, 'The machine may go down.'), end: isFlushed ? 'done' : 'incomplete' };
    }
    case 'calledOff':
      return {
        lines: add('Called off: the node takes pods again, those that were ended stay ended.'),
        end: 'calledOff',
      };
    default:
      return progress satisfies never;
  }
}

function listed(intro: string, pods: readonly NamespacedName[]): string {
  return pods.length === 0 ? '' : `${intro}: ${pods.map(({ namespace, name }) => `${namespace}/${name}`).join(', ')}`;
}
