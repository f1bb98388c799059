import { findContainer } from '../../model/containers.ts';
import { text, type Handler } from '../route.ts';
import { runningContainer } from '../streaming/find-target.ts';
import { parseStreams } from '../streaming/session-options.ts';
import { openSession, type SessionDeps } from '../streaming/session.ts';

/** `/attach`: the streams of a container's first process. Whether that has a terminal was decided when it was made. */
export function attachHandler(deps: SessionDeps): Handler {
  return async (request) => {
    const asked = parseStreams(request.query);
    if ('refusal' in asked) return text(400, asked.refusal);
    const name = request.params['container'] ?? '';
    return openSession(deps, request, 'attach', (pod) => {
      const tty = findContainer(pod.spec, name)?.container.tty === true;
      const streams = { ...asked.value, tty, stderr: asked.value.stderr && !tty };
      return {
        rule: runningContainer(name),
        ask: (containerId) => deps.runtime.attach({ containerId, ...streams }, { signal: request.signal }),
      };
    });
  };
}
