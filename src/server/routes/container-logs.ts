import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { findContainer } from '../../model/containers.ts';
import { goQuote } from '../../model/go-text.ts';
import { podFields, type PodFields } from '../../model/pod-log.ts';
import { ContainerLogReader } from '../container-logs/log-reader.ts';
import { bareContainerId, chooseContainer } from '../container-logs/choose-container.ts';
import { decodeLogOptions, type LogStream } from '../container-logs/log-options.ts';
import type { ContainerLogFiles, LogSources } from '../container-logs/ports.ts';
import { text, type Handler, type RouteRequest } from '../route.ts';

interface ContainerLogsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: ContainerLogFiles;
  readonly sources: LogSources;
  /** The gate PodLogsQuerySplitStreams. */
  readonly splitStreams: boolean;
}

type FoundLog = { readonly kind: 'found'; readonly path: string } | { readonly kind: 'refused'; readonly why: string };

const streamNames: Readonly<Record<LogStream, string>> = { stdout: 'Stdout', stderr: 'Stderr' };

/** `/containerLogs/{namespace}/{pod}/{container}`: what a container has said, and goes on to say. */
export function containerLogsHandler(deps: ContainerLogsDeps): Handler {
  const reader = new ContainerLogReader(deps);
  const findLog = async (id: ContainerId, named: PodFields, signal: AbortSignal): Promise<FoundLog | undefined> => {
    let path = '';
    try {
      path = await deps.sources.logPath(id, signal);
    } catch (error) {
      signal.throwIfAborted();
      deps.log.debug(4, 'Cannot find the log of a container', { ...named, containerID: id, err: error });
    }
    if (path === '') return undefined;
    try {
      return { kind: 'found', path: await reader.prepare(path, id) };
    } catch (error) {
      return { kind: 'refused', why: messageOf(error) };
    }
  };
  return async ({ params, query, signal }: RouteRequest) => {
    const decoded = decodeLogOptions(query);
    if (decoded.kind === 'refused') return text(decoded.status, decoded.body);
    const { options } = decoded;
    const { namespace = '', pod: podName = '', container = '' } = params;
    const found = deps.sources.pod(namespace, podName);
    if (found === undefined) return text(404, `pod ${goQuote(podName)} does not exist`);
    const { spec, status, metadata } = found.pod;
    if (spec === undefined || findContainer(spec, container) === undefined) {
      return text(404, `container ${goQuote(container)} not found in pod ${goQuote(podName)}`);
    }
    if (options.stream !== undefined && !deps.splitStreams) return text(400, streamRefusal(options.stream));

    const chosen = chooseContainer({ name: metadata?.name ?? podName, status }, container, options.previous);
    if (chosen.kind === 'none') return text(400, chosen.message);
    const id = bareContainerId(chosen.id);
    const named = podFields(metadata ?? {});
    const log = await reader.inTurn(() => findLog(id, named, signal), signal);
    if (log === undefined) return text(400, `unable to retrieve container logs for ${chosen.id}`);
    if (log.kind === 'refused') return text(400, log.why);
    const { path } = log;
    return {
      kind: 'stream',
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      send: (sink, sendSignal) => reader.send({ path, id, named, options }, sink, sendSignal),
    };
  };
}

const streamRefusal = (stream: LogStream): string =>
  `unable to return the given log stream: ${goQuote(streamNames[stream])}. ` +
  'Please enable PodLogsQuerySplitStreams feature gate in kubelet';
