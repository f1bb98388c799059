import type { CallDescription, Calls, EndCall } from '../base/calls.ts';

/** Remembers the calls that adapters report. */
export class MemoryCalls implements Calls {
  readonly #running = new Set<CallDescription>();
  readonly ended: string[] = [];

  begin(call: CallDescription): EndCall {
    const running = { ...call };
    this.#running.add(running);
    return (failure) => {
      this.#running.delete(running);
      this.ended.push(`${inShort(call)}: ${failure === undefined ? 'ok' : `${failure.kind} ${failure.message}`}`);
    };
  }

  underWay(): string[] {
    return [...this.#running].map(inShort);
  }
}

function inShort({ system, verb, subject }: CallDescription): string {
  return [system, verb, ...(subject === undefined ? [] : [subject])].join(' ');
}
