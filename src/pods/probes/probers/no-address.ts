import type { ProbeOutcome } from '../ports.ts';

/** Without an address a probe would reach this node itself, and whatever listens there. */
export const noAddressYet: ProbeOutcome = { kind: 'inconclusive', why: 'the pod has no address yet' };
