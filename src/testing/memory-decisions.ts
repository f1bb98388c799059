import type { Decision, Decisions, DecisionSubject } from '../model/decisions.ts';

/** Remembers the decisions that components record. */
export class MemoryDecisions implements Decisions {
  readonly entries: { readonly pod: DecisionSubject | undefined; readonly decision: Decision }[] = [];

  pod(pod: DecisionSubject, decision: Decision): void {
    this.entries.push({ pod, decision });
  }

  node(decision: Decision): void {
    this.entries.push({ pod: undefined, decision });
  }

  /** Subject, kind, reason and message of each; what is asked for is forgotten. */
  take(): string[] {
    return this.entries.splice(0).map(({ pod, decision }) => {
      const { kind, reason, message, containerName } = decision;
      const subject = [pod?.uid ?? 'node', ...(containerName === undefined ? [] : [containerName])].join('/');
      return `${subject} ${kind} ${reason}: ${message}`;
    });
  }
}
