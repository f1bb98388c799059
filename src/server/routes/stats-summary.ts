import type { Summary } from '../../model/stats-summary.ts';
import type { Handler, RouteRequest } from '../route.ts';
import { listAnswer } from './list-answer.ts';

interface SummaryOptions {
  /** Leaves out all that is costly to find out. */
  readonly onlyCpuAndMemory: boolean;
}

interface Stats {
  summary(options: SummaryOptions, signal: AbortSignal): Promise<Summary>;
}

/** `/stats/summary`: what the node and its pods use. */
export function statsSummaryHandler(stats: Stats): Handler {
  return async (request) => {
    const { node, pods } = await stats.summary(summaryOptions(request), request.signal);
    return listAnswer({ before: `{"node":${JSON.stringify(node)},"pods":[`, items: pods, after: ']}' });
  };
}

const formType = 'application/x-www-form-urlencoded';

/** Said once and in the query or a form; said twice it counts as not said. */
export function summaryOptions({
  query,
  headers,
  body,
}: Pick<RouteRequest, 'query' | 'headers' | 'body'>): SummaryOptions {
  const isForm = headers['content-type']?.split(';')[0]?.trim().toLowerCase() === formType;
  const form = isForm ? new URLSearchParams(body.toString()) : undefined;
  const said = [...(form?.getAll('only_cpu_and_memory') ?? []), ...query.getAll('only_cpu_and_memory')];
  return { onlyCpuAndMemory: said.length === 1 && said[0] === 'true' };
}
