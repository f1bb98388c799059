import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const listening = '0A';

/** The TCP ports at which a process listens. */
export function listeningPorts(pid: number): readonly number[] {
  const own = new Set(sockets(pid));
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === listening && own.has(inode ?? ''))
    .map(([, local = '']) => parseInt(local.slice(local.lastIndexOf(':') + 1), 16))
    .toSorted((one, other) => one - other);
}

function sockets(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
    } catch {
      // Closed since it was listed.
      return [];
    }
  });
}

/** Whether a process has a handler of its own for a signal. */
export function catches(pid: number, signal: number): boolean {
  try {
    const caught = /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
  } catch {
    // Gone.
    return false;
  }
}
