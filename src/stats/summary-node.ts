import type { StatsDeps } from './stats-deps.ts';
import type { SummaryNode } from './summary-input.ts';

/** The kernel counts all its interrupts to answer this, and it changes only when somebody sets the clock. */
const bootTimeMs = 60_000;

type NodeDeps = Pick<StatsDeps, 'clock' | 'settings' | 'facts' | 'machine'>;

/** What summaries say of the machine besides its usage. */
export class NodeOfSummary {
  readonly #deps: NodeDeps;
  #booted: { readonly at: number; readonly untilMs: number } | undefined;

  constructor(deps: NodeDeps) {
    this.#deps = deps;
  }

  now(): SummaryNode {
    const { settings, facts, machine } = this.#deps;
    return {
      name: settings.nodeName,
      bootedAt: this.#bootedAt(),
      memoryBytes: facts.memoryBytes,
      swapFree: machine.memory().swapFree,
      pressure: settings.pressure,
    };
  }

  #bootedAt(): number {
    const { clock, machine } = this.#deps;
    const nowMs = clock.monotonic();
    if (this.#booted === undefined || nowMs >= this.#booted.untilMs) {
      this.#booted = { at: machine.bootTime() ?? 0, untilMs: nowMs + bootTimeMs };
    }
    return this.#booted.at;
  }
}
