import { criOver, type Cri, type CriDeps } from './cri.ts';
import { parseEndpoint } from './endpoint.ts';
import { grpcTransport } from './grpc-transport.ts';

interface ConnectCriDeps extends CriDeps {
  readonly endpoint: string;
  /** The endpoint of the image service, if it is not the runtime's. */
  readonly imageEndpoint?: string | undefined;
}

/** A client of the runtime at an endpoint. The first call opens the connection. */
export function connectCri(deps: ConnectCriDeps): Cri {
  const endpoint = parseEndpoint(deps.endpoint);
  const wantsImages = deps.imageEndpoint !== undefined && deps.imageEndpoint !== '';
  const imageEndpoint = wantsImages ? parseEndpoint(deps.imageEndpoint ?? '') : endpoint;
  for (const warning of new Set([endpoint.warning, imageEndpoint.warning])) {
    if (warning !== undefined) deps.log.warn('The runtime endpoint should be a URL', { warning });
  }
  return criOver(grpcTransport(endpoint, imageEndpoint), deps);
}
