import { seededRandom } from '../../src/testing/seeded-random.ts';
import { Chaos } from './chaos.ts';
import { Dice } from './dice.ts';
import { WatchedNode } from './watched-node.ts';

interface Run {
  readonly seed: number;
  /** Every call that reached the runtime, and everything that was noted. */
  readonly lines: readonly string[];
  readonly virtualMs: number;
}

/** One run: chaos by the seed, then peace, then the end of everything. Throws a Violation. */
export async function simulate(seed: number): Promise<Run> {
  const watched = new WatchedNode(seed, `seed ${seed}`);
  const { node, monitor } = watched;
  const dice = new Dice(seededRandom(seed));
  const chaos = new Chaos(node, monitor.ledger, dice);
  node.agent.begin();
  const steps = dice.whole(10, 60);
  for (let step = 0; step < steps; step++) {
    chaos.step();
    await watched.advance(dice.pauseMs());
  }
  node.calmDown();
  await watched.settle();
  await watched.staysQuiet();
  for (const plan of node.manifests.values()) {
    if (plan.pod.source === 'api') chaos.pods.delete(plan);
    else chaos.pods.remove(plan);
  }
  node.trail.note('--- all manifests are removed ---');
  await watched.settle();
  await watched.stop();
  const calls = node.cri.calls.map(({ verb, request, at }) => `${at} ${verb} ${JSON.stringify(request, bigints)}`);
  return { seed, lines: [...node.trail.all(), ...calls], virtualMs: node.now() };
}

const bigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
