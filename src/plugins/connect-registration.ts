import type { OpenRpc } from '../base/rpc.ts';
import type { ConnectRegistration } from './ports.ts';

/** Registration sockets over gRPC. The messages are loaded with the first plugin. */
export function connectRegistration(open: OpenRpc): ConnectRegistration {
  return async (socketPath, signal) => {
    const { RegistrationService } = await import('../gen/pluginregistration/v1.ts');
    const channel = open(socketPath);
    try {
      await channel.connected(signal);
      signal.throwIfAborted();
    } catch (error) {
      channel.close();
      throw error;
    }
    return {
      async info(limit) {
        const info = await channel.call(RegistrationService.getInfo, {}, { signal: limit });
        return { ...info, endpoint: info.endpoint === '' ? socketPath : info.endpoint };
      },
      async notify(status, limit) {
        await channel.call(RegistrationService.notifyRegistrationStatus, status, { signal: limit });
      },
      close: () => channel.close(),
    };
  };
}
