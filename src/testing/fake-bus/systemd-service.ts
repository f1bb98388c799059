import type { Message } from '../../dbus/message.ts';
import { textOf, type DBusValue, type Variant } from '../../dbus/values.ts';
import type { BusReply, ServiceBus } from './fake-bus.ts';

const name = 'org.freedesktop.systemd1';
const path = '/org/freedesktop/systemd1';

/** systemd's manager on a bus: units with their properties, jobs whose end a test may change. */
export class SystemdService {
  readonly units = new Map<string, Map<string, DBusValue>>();
  /** Known without being active. */
  readonly inactive = new Set<string>();
  version: DBusValue = 'v252.39-1~deb12u1';
  /** The result of a job; undefined for one that never ends. */
  result: (method: string, unit: string) => string | undefined = () => 'done';
  /** Answers in the place of a method; 'silent' never does, `undefined` leaves it to the method. */
  instead: (call: Message) => BusReply | 'silent' | undefined = () => undefined;
  /** Called before the answer is sent, when the work is done. */
  onDone: (method: string) => void = () => {};
  /** Tells how a job ended before the answer that names it. */
  resultFirst = false;
  readonly #bus: ServiceBus;
  #lastJob = 0;

  constructor(bus: ServiceBus) {
    this.#bus = bus;
    bus.direct = (call) => this.#call(call);
    this.appear();
  }

  appear(): void {
    this.#bus.serve(name, (call) => this.#call(call));
  }

  disappear(): void {
    this.#bus.serve(name, undefined);
  }

  jobRemoved(job: string, unit: string, result: string): void {
    const body = [this.#lastJob, job, unit, result];
    this.#bus.signal(name, { path, interface: `${name}.Manager`, member: 'JobRemoved', signature: 'uoss', body });
  }

  #call(call: Message): BusReply | undefined {
    const instead = this.instead(call);
    if (instead !== undefined) return instead === 'silent' ? undefined : instead;
    const { member = '' } = call;
    const [first, second, third] = call.signature === '' ? [] : call.body();
    const unit = call.member === 'Get' ? '' : textOf(first);
    const reply = this.#method(member, unit, member === 'SetUnitProperties' ? third : second, third);
    this.onDone(member);
    return reply;
  }

  #method(member: string, unit: string, second: DBusValue | undefined, third: DBusValue | undefined): BusReply {
    switch (member) {
      case 'Get':
        return { signature: 'v', body: [{ signature: 's', value: this.version }] };
      case 'StartTransientUnit':
        if (this.units.has(unit)) return fault('UnitExists', `Unit ${unit} already exists.`);
        this.units.set(unit, new Map());
        this.#set(unit, third);
        return this.#job(member, unit);
      case 'StartUnit':
        this.inactive.delete(unit);
        return this.#job(member, unit);
      case 'SetUnitProperties':
        if (!this.units.has(unit)) this.inactive.add(unit);
        this.#set(unit, second);
        return {};
      case 'StopUnit':
        if (!this.units.delete(unit)) return fault('NoSuchUnit', `Unit ${unit} not loaded.`);
        return this.#job(member, unit);
      case 'ResetFailedUnit':
        return fault('NoSuchUnit', `Unit ${unit} not loaded.`);
      case 'KillUnit':
        return {};
      default:
        return { errorName: 'org.freedesktop.DBus.Error.UnknownMethod', signature: 's', body: [`no ${member}`] };
    }
  }

  #set(unit: string, properties: DBusValue | undefined): void {
    const values = this.units.get(unit) ?? new Map<string, DBusValue>();
    this.units.set(unit, values);
    for (const [key, { value }] of properties as readonly (readonly [string, Variant])[]) values.set(key, value);
  }

  #job(method: string, unit: string): BusReply {
    const job = `${path}/job/${++this.#lastJob}`;
    const result = this.result(method, unit);
    const tell = (): void => void (result !== undefined && this.jobRemoved(job, unit, result));
    if (this.resultFirst) tell();
    else setImmediate(tell);
    return { signature: 'o', body: [job] };
  }
}

function fault(error: string, text: string): BusReply {
  return { errorName: `${name}.${error}`, signature: 's', body: [text] };
}
