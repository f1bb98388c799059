import type { Pod, PodStatus } from '../../src/gen/kubernetes/types.ts';
import type { RealNode } from '../support/real-node.ts';
import { allPods } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { clock } from '../support/real-wait.ts';
import type { SeenEvent } from './stage.ts';

const lookMs = 50;

interface EventLine {
  readonly msg: string;
  readonly object?: { readonly name?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** How much of an agent's words has been taken. */
interface Heard {
  readonly agent: Program;
  length: number;
}

/** Looks at all pods of a node every now and then, for all stories on it, and hears what its agents say. */
export class RealWatch {
  readonly #node: RealNode;
  readonly #statuses = new Map<string, PodStatus[]>();
  readonly #last = new Map<string, string>();
  readonly #agents: Heard[] = [];
  readonly #events: EventLine[] = [];
  #pods: ReadonlyMap<string, Pod> = new Map();
  #loop: Promise<void> | undefined;
  #stopped = false;

  constructor(node: RealNode) {
    this.#node = node;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
  }

  /** An agent that writes its log as JSON. */
  listenTo(agent: Program): void {
    this.#agents.push({ agent, length: 0 });
  }

  /** As of the last look. */
  pod(name: string): Pod | undefined {
    return this.#pods.get(name);
  }

  statuses(name: string): readonly PodStatus[] {
    return this.#statuses.get(name) ?? [];
  }

  /** Events about a pod, in order; its name has the node's behind it. */
  events(name: string): readonly SeenEvent[] {
    for (const heard of this.#agents) this.#hear(heard);
    return this.#events
      .filter(({ object }) => object?.name === name)
      .map(({ type = '', reason = '', message = '' }) => ({ type, reason, message }));
  }

  /** Takes what an agent has said since; a line that is not written to its end is left for the next time. */
  #hear(heard: Heard): void {
    const { text } = heard.agent;
    const end = text.lastIndexOf('\n') + 1;
    const lines = text.slice(heard.length, end).split('\n');
    heard.length = end;
    const about = lines.filter((line) => line.includes('"msg":"Event occurred"'));
    this.#events.push(...about.map((line) => JSON.parse(line) as EventLine));
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#look();
      await clock.sleep(lookMs);
    }
  }

  async #look(): Promise<void> {
    try {
      this.#pods = await allPods(this.#node);
    } catch {
      // Nobody answers while no agent runs; whoever waits for a pod says so in the end.
      return;
    }
    for (const [name, { status }] of this.#pods) {
      const text = JSON.stringify(status);
      if (status === undefined || this.#last.get(name) === text) continue;
      this.#last.set(name, text);
      this.#statuses.set(name, [...(this.#statuses.get(name) ?? []), status]);
    }
  }
}
