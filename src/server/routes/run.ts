import { cutText } from '../../base/cut-text.ts';
import { grpcErrorText } from '../../base/errors.ts';
import { text, type Handler } from '../route.ts';
import { findPod, inspectTarget, runningContainer } from '../streaming/find-target.ts';
import { parseRunCommand } from '../streaming/session-options.ts';
import type { SessionDeps } from '../streaming/session.ts';

/**
 * `/run`: a command in a running container, answered with all it said. The runtime's answer is one message of at most
 * 16 MiB, so the output has an end; the command has one when the client goes away.
 */
export function runHandler(deps: SessionDeps): Handler {
  return async (request) => {
    const { params, signal } = request;
    const pod = findPod(deps.pods, params);
    if ('kind' in pod) return pod;
    const cmd = [...parseRunCommand(request.headers, request.body, request.query)];
    try {
      // What is known may be old, and a command must not be tried twice.
      const containerId = await inspectTarget(deps.pods, pod, runningContainer(params['container'] ?? ''), signal);
      const { stdout, stderr, exitCode } = await deps.runtime.execSync({ containerId, cmd, timeout: 0n }, { signal });
      if (exitCode !== 0) {
        // As bytes: a string of 16 MiB would cost the others a pause.
        const head = Buffer.from(`command '${cutText(cmd.join(' '))}' exited with ${exitCode}: `);
        const body = Buffer.concat([head, stderr]);
        return { kind: 'page', status: 500, contentType: 'text/plain; charset=utf-8', body };
      }
      const body = Buffer.concat([stdout, stderr]);
      // Not JSON at all, but that is what it has always been called.
      return { kind: 'page', status: 200, contentType: 'application/json', body };
    } catch (error) {
      return text(500, grpcErrorText(error));
    }
  };
}
