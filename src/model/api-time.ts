/** A wall time in milliseconds as the API writes times: RFC 3339, whole seconds, UTC. */
export function apiTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
