import { text, type Handler } from '../route.ts';
import { runningContainer } from '../streaming/find-target.ts';
import { parseStreams } from '../streaming/session-options.ts';
import { openSession, type SessionDeps } from '../streaming/session.ts';

/** `/exec`: a command in a running container, with its streams on this connection. */
export function execHandler(deps: SessionDeps): Handler {
  return async (request) => {
    const streams = parseStreams(request.query);
    if ('refusal' in streams) return text(400, streams.refusal);
    const cmd = request.query.getAll('command');
    return openSession(deps, request, 'exec', () => ({
      rule: runningContainer(request.params['container'] ?? ''),
      ask: (containerId) => deps.runtime.exec({ containerId, cmd, ...streams.value }, { signal: request.signal }),
    }));
  };
}
