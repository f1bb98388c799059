import type { Decisions } from '../model/decisions.ts';

/** For components whose decisions a test does not look at. */
export const noDecisions: Decisions = Object.freeze({ pod: () => undefined, node: () => undefined });
