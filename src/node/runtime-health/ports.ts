import type { CallOptions } from '../../base/call.ts';
import type { StatusRequest, StatusResponse } from '../../gen/cri/api.ts';

export interface RuntimeStatusSource {
  status(request: StatusRequest, options?: CallOptions): Promise<StatusResponse>;
}
