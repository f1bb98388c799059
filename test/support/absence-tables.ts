import { absentFromCadvisorPage, absentFromResourcePage, absentWhereNotCounted } from '../../src/stats/pages/index.ts';
import { absentMetrics } from '../../src/telemetry/index.ts';

type Reasons = Readonly<Record<string, string>>;

/** What a Go kubelet tells and this agent does not, by the headings of docs/metrics.md. */
export const absences: Readonly<Record<string, Reasons>> = {
  'Absent from `/metrics`': absentMetrics,
  'Absent from `/metrics/cadvisor`': absentFromCadvisorPage,
  'On `/metrics/cadvisor` only where the kernel counts': absentWhereNotCounted,
  'Absent from `/metrics/resource`': absentFromResourcePage,
};

/** A row for each reason, in the order of the table. */
export function markdownTable(reasons: Reasons): string {
  const names = new Map<string, string[]>();
  for (const [name, why] of Object.entries(reasons)) names.set(why, [...(names.get(why) ?? []), `\`${name}\``]);
  const rows = [...names].map(([why, of]) => `| ${of.join(', ')} | ${sentence(why)} |`);
  return rows.length === 0 ? 'Nothing.' : ['| metrics | why |', '|---|---|', ...rows].join('\n');
}

function sentence(why: string): string {
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}${why.endsWith('.') ? '' : '.'}`;
}
