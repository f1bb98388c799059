import { text, type Handler } from '../route.ts';
import { readySandbox } from '../streaming/find-target.ts';
import { parsePorts } from '../streaming/session-options.ts';
import { openSession, type SessionDeps } from '../streaming/session.ts';

/** `/portForward`: connections to ports inside a pod. */
export function portForwardHandler(deps: SessionDeps): Handler {
  return async (request) => {
    const ports = parsePorts(request.headers, request.query);
    if ('refusal' in ports) return text(400, ports.refusal);
    const port = [...ports.value];
    return openSession(deps, request, 'portForward', (pod) => ({
      rule: readySandbox(pod),
      ask: (podSandboxId) => deps.runtime.portForward({ podSandboxId, port }, { signal: request.signal }),
    }));
  };
}
