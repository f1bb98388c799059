import type { DesiredPod } from '../model/desired-pod.ts';

/** An event about a pod, as components record it. */
interface MemoryEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** Remembers the events that components record. */
export class MemoryEvents {
  readonly entries: MemoryEvent[] = [];

  record(_pod: DesiredPod, event: MemoryEvent): void {
    this.entries.push(event);
  }

  /** Type, reason and message of each; what is asked for is forgotten. */
  take(): string[] {
    return this.entries.splice(0).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }
}
