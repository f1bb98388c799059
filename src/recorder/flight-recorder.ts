import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import type { Decision, DecisionKind, Decisions, DecisionSubject } from '../model/decisions.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import { DecisionLog } from './decision-log.ts';
import { pageOf, podLine, type DecisionPage, type PodLine, type PodPage, type PodRecord } from './decision-pages.ts';
import { recorderLimits, type RecorderLimits } from './recorder-limits.ts';

interface FlightRecorderDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly removal: Pick<PodRemoval, 'register'>;
  readonly limits?: Partial<RecorderLimits>;
}

/** With these a pod's life begins; any other decision about a pod that was removed is about its former life. */
const firstDecisions: ReadonlySet<DecisionKind> = new Set(['admit', 'reject']);

/**
 * Keeps the last decisions about every pod and about the node, within fixed bounds.
 *
 *   unknown ──a decision──> here ──removed──> removed lately ──others are removed──> unknown
 *                             ^── admitted ──────┘
 */
export class FlightRecorder implements Decisions {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #limits: RecorderLimits;
  readonly #node: DecisionLog;
  /** Both in the order of their last decisions. */
  readonly #present = new Map<PodUid, PodRecord>();
  readonly #removed = new Map<PodUid, PodRecord>();

  constructor({ clock, removal, limits = {} }: FlightRecorderDeps) {
    this.#clock = clock;
    this.#limits = { ...recorderLimits, ...limits };
    this.#node = new DecisionLog({ entries: this.#limits.nodeEntries, bytes: this.#limits.nodeBytes });
    removal.register('flight-recorder', {
      forget: (uid) => this.#podRemoved(uid),
      size: () => this.#present.size,
    });
  }

  pod(pod: DecisionSubject, decision: Decision): void {
    const { uid } = pod;
    const removed = this.#removed.get(uid);
    const isFormerLife = removed !== undefined && !firstDecisions.has(decision.kind);
    const known = isFormerLife ? removed : (this.#present.get(uid) ?? removed);
    const { namespace = known?.namespace, name = known?.name } = pod;
    const log = known?.log ?? new DecisionLog({ entries: this.#limits.podEntries, bytes: this.#limits.podBytes });
    log.add(decision, this.#clock.now());
    const record: PodRecord = {
      uid,
      log,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(isFormerLife && removed.removedAt !== undefined && { removedAt: removed.removedAt }),
    };
    this.#removed.delete(uid);
    if (isFormerLife) keepLast(this.#removed, record, this.#limits.removedPods);
    else keepLast(this.#present, record, this.#limits.pods);
  }

  node(decision: Decision): void {
    this.#node.add(decision, this.#clock.now());
  }

  /** Undefined for an unknown pod, and for one that was removed before too many others. */
  podPage(uid: string): PodPage | undefined {
    const record = this.#present.get(uid as PodUid) ?? this.#removed.get(uid as PodUid);
    return record && { ...podLine(record), ...pageOf(record.log) };
  }

  nodePage(): DecisionPage {
    return pageOf(this.#node);
  }

  /** Every pod that a page can be asked of. */
  pods(): readonly PodLine[] {
    return [...this.#present.values(), ...this.#removed.values()].map(podLine);
  }

  #podRemoved(uid: PodUid): void {
    const record = this.#present.get(uid);
    if (record === undefined) return;
    this.#present.delete(uid);
    keepLast(this.#removed, { ...record, removedAt: this.#clock.now() }, this.#limits.removedPods);
  }
}

function keepLast(records: Map<PodUid, PodRecord>, record: PodRecord, max: number): void {
  records.delete(record.uid);
  records.set(record.uid, record);
  for (const uid of records.keys()) {
    if (records.size <= max) return;
    records.delete(uid);
  }
}
