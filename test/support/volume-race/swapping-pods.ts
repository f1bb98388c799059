import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RealNode } from '../real-node.ts';
import { podOf, shell } from '../real-pods.ts';
import { until } from '../real-wait.ts';
import type { Bait } from './bait.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Builds the program that swaps; answers why it cannot be had. */
export function buildSwapper(path: string): string | undefined {
  const source = 'test/support/volume-race/swapper.go';
  try {
    execFileSync('go', ['build', '-buildvcs=false', '-o', join(path, 'swapper'), source], {
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'needs Go to build the program that swaps';
    throw error;
  }
}

interface SwapPlan {
  readonly name: string;
  readonly bait: Bait;
  /** Where else links lead; not in a race that may be lost. */
  readonly links: readonly string[];
  /** What is swapped. */
  readonly volume: Fields;
}

/** Containers that swap what is in a volume. */
export class SwappingPods {
  readonly #node: RealNode;
  readonly tools: string;

  constructor(node: RealNode, tools: string) {
    this.#node = node;
    this.tools = tools;
  }

  /** The volumes and init containers by which a pod has its volume `v` swapped for as long as it lives. */
  parts({ name, bait, links, volume }: SwapPlan): { readonly volumes: Fields[]; readonly initContainers: Fields[] } {
    mkdirSync(this.#state(name), { recursive: true });
    const volumes = [
      { name: 'v', ...volume },
      { name: 'tools', hostPath: { path: this.tools } },
      { name: 'state', hostPath: { path: this.#state(name) } },
    ];
    const volumeMounts = [
      { name: 'v', mountPath: '/v' },
      { name: 'tools', mountPath: '/tools', readOnly: true },
      { name: 'state', mountPath: '/state' },
    ];
    const words = (...args: readonly string[]): Fields => ({
      image: this.#node.image,
      command: ['/tools/swapper', ...args],
      volumeMounts,
    });
    const swapper = words('run', '/v', bait.path, [...links, bait.path].join(','), '/state');
    return {
      volumes,
      initContainers: [
        { name: 'prepare', ...words('prepare', '/v') },
        { name: 'swapper', restartPolicy: 'Always', ...swapper },
      ],
    };
  }

  /** Puts a pod that does nothing else. */
  put(plan: SwapPlan): void {
    const { volumes, initContainers } = this.parts(plan);
    const [prepare, swapper] = initContainers;
    const { restartPolicy: _, ...main } = swapper ?? {};
    const spec = { terminationGracePeriodSeconds: 5, volumes, initContainers: [prepare], containers: [main] };
    this.#node.put(plan.name, podOf(plan.name, spec));
  }

  /** How often it has swapped; waits until it has begun. */
  async begun(name: string): Promise<void> {
    await until(`${name} swaps`, () => this.swaps(name) > 0, { timeoutMs: 60_000, state: () => this.#node.pod(name) });
  }

  swaps(name: string): number {
    const path = join(this.#state(name), 'swaps');
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  }

  #state(name: string): string {
    return join(this.#node.path, 'state', name);
  }
}

/** What a container of the real rounds says about the part that it got: where it is, and what can be seen in it. */
const lookingInside = [
  'grep " /m " /proc/self/mountinfo | cut -d" " -f3-4',
  'if [ -d /m ]; then ls -A /m; echo x > /m/left-by-container; else cat /m; echo; echo x > /m; fi',
].join('\n');

/** A container that gets a part of the volume. */
export function looking(name: string, image: string, subPath: string): Fields {
  return shell(name, image, lookingInside, { volumeMounts: [{ name: 'v', mountPath: '/m', subPath }] });
}
