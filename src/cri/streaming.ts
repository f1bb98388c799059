import {
  RuntimeServiceService as service,
  type AttachRequest,
  type AttachResponse,
  type ExecRequest,
  type ExecResponse,
  type ExecSyncRequest,
  type ExecSyncResponse,
  type PortForwardRequest,
  type PortForwardResponse,
} from '../gen/cri/api.ts';
import { textFlaw } from './answers.ts';
import { onTopOfSeconds } from './deadline.ts';
import type { Binder, Call } from './invoke.ts';

/** Commands in containers. The streaming verbs answer with the URL at which the runtime serves the session. */
export interface StreamingCalls {
  readonly execSync: Call<ExecSyncRequest, ExecSyncResponse>;
  readonly exec: Call<ExecRequest, ExecResponse>;
  readonly attach: Call<AttachRequest, AttachResponse>;
  readonly portForward: Call<PortForwardRequest, PortForwardResponse>;
}

export function streamingCalls(bind: Binder): StreamingCalls {
  return {
    execSync: bind('execSync', service.execSync, {
      // Without a timeout of its own the command may run for ever, and so may the call.
      limitMs: ({ timeout }, requestMs) => (timeout === 0n ? undefined : onTopOfSeconds(timeout, requestMs)),
    }),
    exec: bind('exec', service.exec, { flaw: ({ url }) => textFlaw('url', url) }),
    attach: bind('attach', service.attach, { flaw: ({ url }) => textFlaw('url', url) }),
    portForward: bind('portForward', service.portForward, { flaw: ({ url }) => textFlaw('url', url) }),
  };
}
