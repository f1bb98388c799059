import type { MachineFacts } from '../../model/usage.ts';
import { json, type Handler } from '../route.ts';

interface SpecDeps {
  machine(signal: AbortSignal): Promise<MachineFacts>;
  /** Where the machine reports it. */
  readonly cpuFrequencyKhz: number | undefined;
}

/** `/spec`: the machine, in the names that readers of cAdvisor's MachineInfo know. */
export function specHandler(deps: SpecDeps): Handler {
  return async ({ signal }) => json(toMachineInfo(await deps.machine(signal), deps.cpuFrequencyKhz));
}

function toMachineInfo(facts: MachineFacts, cpuFrequencyKhz?: number): object {
  return {
    num_cores: facts.cores,
    num_physical_cores: facts.physicalCores,
    num_sockets: facts.sockets,
    ...(cpuFrequencyKhz === undefined ? {} : { cpu_frequency_khz: cpuFrequencyKhz }),
    memory_capacity: facts.memoryBytes,
    swap_capacity: facts.swapBytes,
    machine_id: facts.machineId,
    system_uuid: facts.systemUuid,
    boot_id: facts.bootId,
  };
}
