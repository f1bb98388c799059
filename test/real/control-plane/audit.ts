import { existsSync, readFileSync } from 'node:fs';

/** Only what nodes do is of interest, and writing the rest down would slow the others. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:nodes', 'system:bootstrappers'] }, { level: 'None' }],
};

/** The fields used here of an audit event. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  /** RFC 3339, with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

/** Requests of nodes so far, in the order they were answered. The last line may be half written. */
export function readAudit(path: string): readonly AuditEvent[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent);
}

/**
 * Those that were refused, by an authorizer or by admission. Both know by watches of their own which pods are on which
 * node: who asks right after a binding may be ahead of them, and no node can know. What was refused for that reason and
 * granted when it was asked again is no refusal.
 */
export function forbidden(events: readonly AuditEvent[], user?: string): readonly AuditEvent[] {
  return events.filter(
    (event, index) =>
      event.responseStatus?.code === 403 &&
      (user === undefined || event.user.username === user) &&
      !(isAhead(event) && events.slice(index + 1).some((later) => isGrantOf(event, later))),
  );
}

const ahead = [
  /node requested token bound to a pod scheduled on a different node$/,
  /pods? "[^"]+" not found$/,
  /no relationship found between node '[^']+' and this object/,
];

function isAhead({ responseStatus, annotations }: AuditEvent): boolean {
  const words = [responseStatus?.message ?? '', annotations?.['authorization.k8s.io/reason'] ?? ''];
  return words.some((text) => ahead.some((pattern) => pattern.test(text)));
}

function isGrantOf(refused: AuditEvent, later: AuditEvent): boolean {
  // Lists of one object differ in the version that is good enough.
  const asked = ({ requestURI }: AuditEvent): string => {
    const { pathname, searchParams } = new URL(requestURI, 'https://server');
    return `${pathname} ${searchParams.get('fieldSelector') ?? ''}`;
  };
  const { code = 500 } = later.responseStatus ?? {};
  return (
    code < 300 &&
    later.user.username === refused.user.username &&
    later.verb === refused.verb &&
    asked(later) === asked(refused)
  );
}
