/** Who says that the machine goes down. */
type ShutdownSource = 'logind' | 'request';

/**
 *   up ──wanted──> ending ──podsEnded──> ended ──wanted by logind too──> ended, the machine may go
 *   ^                 │                    │
 *   └── called off by all that wanted it ──┘
 */
export interface ShutdownState {
  readonly phase: 'up' | 'ending' | 'ended';
  readonly wantedBy: readonly ShutdownSource[];
}

export type ShutdownEvent =
  | { readonly type: 'wanted' | 'calledOff'; readonly by: ShutdownSource }
  | { readonly type: 'podsEnded' };

/**
 * `begin`: refuse new pods, end those that run. `letGo`: logind need not wait any more. `callOff`: the node goes on with the
 * pods that it still has.
 */
export type ShutdownEffect = 'none' | 'begin' | 'letGo' | 'callOff';

interface ShutdownStep {
  readonly state: ShutdownState;
  readonly effect: ShutdownEffect;
  readonly reason: string;
}

export const stillUp: ShutdownState = { phase: 'up', wantedBy: [] };

export function reduceShutdown(state: ShutdownState, event: ShutdownEvent): ShutdownStep {
  switch (event.type) {
    case 'wanted':
      return wanted(state, event.by);
    case 'calledOff':
      return calledOff(state, event.by);
    case 'podsEnded':
      if (state.phase !== 'ending') return { state, effect: 'none', reason: 'the shutdown was called off meanwhile' };
      return ended(state.wantedBy, 'all groups have had their time');
    default:
      return event satisfies never;
  }
}

function wanted({ phase, wantedBy }: ShutdownState, by: ShutdownSource): ShutdownStep {
  const all = wantedBy.includes(by) ? wantedBy : [...wantedBy, by];
  switch (phase) {
    case 'up':
      return { state: { phase: 'ending', wantedBy: all }, effect: 'begin', reason: `wanted by ${by}` };
    case 'ending':
      return { state: { phase, wantedBy: all }, effect: 'none', reason: 'pods are being ended already' };
    case 'ended':
      return ended(all, 'all pods have ended already');
    default:
      return phase satisfies never;
  }
}

/** Only logind waits; a request by hand polls for the end. */
function ended(wantedBy: readonly ShutdownSource[], reason: string): ShutdownStep {
  return { state: { phase: 'ended', wantedBy }, effect: wantedBy.includes('logind') ? 'letGo' : 'none', reason };
}

function calledOff(state: ShutdownState, by: ShutdownSource): ShutdownStep {
  if (!state.wantedBy.includes(by)) return { state, effect: 'none', reason: `not wanted by ${by}` };
  const wantedBy = state.wantedBy.filter((other) => other !== by);
  if (wantedBy.length > 0) {
    return { state: { ...state, wantedBy }, effect: 'none', reason: `still wanted by ${wantedBy.join(', ')}` };
  }
  return { state: stillUp, effect: 'callOff', reason: `called off by ${by}` };
}
