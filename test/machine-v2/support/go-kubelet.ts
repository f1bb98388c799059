import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The Go kubelet that the tier control-plane has compiled; undefined where it has not. */
export function goKubelet(): string | undefined {
  const program = join(process.env['TUBELET_CONTROL_PLANE_PROGRAMS'] ?? '', 'kubelet');
  return existsSync(program) ? program : undefined;
}

/** Gives the machine what a Go kubelet refuses to start without: a clock speed of its processor, and a default route. */
export function makeFitForGoKubelet(): void {
  const text = readFileSync('/proc/cpuinfo', 'utf8');
  if (!text.includes('cpu MHz')) {
    const file = '/tmp/cpuinfo';
    writeFileSync(file, text.replaceAll(/^flags/gm, 'cpu MHz\t\t: 2000.000\nphysical id\t: 0\ncore id\t\t: 0\nflags'));
    execFileSync('mount', ['--bind', file, '/proc/cpuinfo']);
  }
  if (execFileSync('ip', ['route', 'show', 'default'], { encoding: 'utf8' }) !== '') return;
  for (const words of [
    ['link', 'add', 'uplink', 'type', 'bridge'],
    ['addr', 'add', '10.0.2.15/24', 'dev', 'uplink'],
    ['link', 'set', 'uplink', 'up'],
    ['route', 'add', 'default', 'via', '10.0.2.2', 'dev', 'uplink'],
  ]) {
    execFileSync('ip', words);
  }
}
