import type { ProbeOutcome } from '../ports.ts';

/** Without an address a probe would connect to this node itself and reach another server. */
export const noAddressYet: ProbeOutcome = { kind: 'inconclusive', reason: 'the pod has no address yet' };
