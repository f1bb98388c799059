import type { Log } from '../../base/log.ts';
import type { Caller } from '../../model/caller.ts';
import type { PodFields } from '../../model/pod-log.ts';

/** A caller ran something on this node, or tried to. */
export interface AuditEntry {
  /** The pod of a session that was handed over; nothing where the answer came from elsewhere. */
  readonly about?: PodFields;
  /** Undefined when the caller is not authenticated. */
  readonly caller: Caller | undefined;
  readonly address: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** What was to be run: its first word alone, because the others may be secrets. */
  readonly command: string | undefined;
  readonly outcome: AuditOutcome;
}

export type AuditOutcome =
  | { readonly kind: 'answered'; readonly status: number }
  /** The connection now belongs to the caller and the runtime. */
  | { readonly kind: 'handedOver' };

export type OnAudit = (entry: AuditEntry) => void;

const maxCommandLength = 128;

/** The first word of a command: of exec, whose words come one by one, or of run, where it is a line. */
export function commandWord(query: URLSearchParams): string | undefined {
  const word = query.get('command') ?? query.get('cmd')?.split(' ')[0];
  return word?.slice(0, maxCommandLength);
}

/** One line for each; those of unauthenticated clients only at verbosity 2, because they decide how many there are. */
export function auditTo(log: Log): OnAudit {
  return ({ about, caller, address, method, path, command, outcome }) => {
    const fields = {
      user: caller?.name ?? '',
      groups: caller?.groups ?? [],
      address,
      method,
      path,
      ...about,
      ...(command !== undefined && { command }),
      outcome: outcome.kind === 'answered' ? String(outcome.status) : 'handed over',
    };
    if (caller === undefined) log.debug(2, 'Audit', fields);
    else log.info('Audit', fields);
  };
}
