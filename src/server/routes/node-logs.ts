import { isKind } from '../../base/errors.ts';
import { filePage, namesOf, openBelow } from '../node-logs/file-pages.ts';
import { acceptsGzip, throughGzip } from '../node-logs/gzip-sink.ts';
import { decodeLogQuery, fileRefusal, type ServiceQuery } from '../node-logs/log-query.ts';
import { ServiceLogs, type ServiceLogsDeps } from '../node-logs/service-logs.ts';
import { text, type Handler, type Page, type RouteRequest, type RouteResponse } from '../route.ts';

interface NodeLogsDeps extends ServiceLogsDeps {
  /** enableSystemLogQuery and the gate NodeLogQuery. */
  readonly query: boolean;
}

/** `/logs` and `/logs/{file...}`: files below the folder of the node's logs, and what its services have logged. */
export function nodeLogsHandler(deps: NodeLogsDeps): Handler {
  const services = new ServiceLogs(deps);
  return async ({ params, query, headers }: RouteRequest) => {
    const path = params['file'] ?? '';
    const decoded = deps.query ? decodeLogQuery(query, /[^/]/.test(path)) : ({ kind: 'none' } as const);
    if (decoded.kind === 'none') return filePage(deps, path);
    if (decoded.kind === 'refused') return text(decoded.status, decoded.body);
    if (decoded.kind === 'file') return (await missingFile(deps, decoded.file)) ?? filePage(deps, decoded.file);
    return serviceAnswer(services, decoded, acceptsGzip(headers['accept-encoding']));
  };
}

/** A file that was asked for by a query and is not there is a fault of the query. */
async function missingFile(deps: NodeLogsDeps, file: string): Promise<Page | undefined> {
  const names = namesOf(file);
  if (names === undefined) return refusal(file.slice(0, 256), 'invalid argument');
  try {
    await (await openBelow(deps, names)).close();
    return undefined;
  } catch (error) {
    if (isKind(error, 'notFound')) return refusal(file, 'no such file or directory');
    if (isKind(error, 'denied')) return refusal(file, 'permission denied');
    throw error;
  }
}

function refusal(file: string, why: string): Page {
  const { status, body } = fileRefusal(file, why);
  return text(status, body);
}

function serviceAnswer(services: ServiceLogs, query: ServiceQuery, gzip: boolean): RouteResponse {
  return {
    kind: 'stream',
    status: 200,
    contentType: 'text/plain;charset=UTF-8',
    ...(gzip ? { headers: { 'content-encoding': 'gzip' } } : {}),
    send: (sink, signal) =>
      gzip ? throughGzip(sink, (through) => services.send(query, through, signal)) : services.send(query, sink, signal),
  };
}
