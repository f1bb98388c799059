import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Runs an attacker of `attackers/` to its end, and answers what it printed as JSON. */
export async function attack<Report>(script: string, ...words: readonly (string | number)[]): Promise<Report> {
  const path = join('test/limits/attackers', script);
  const child = spawn(process.execPath, [path, ...words.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${text}`);
  return JSON.parse(text) as Report;
}
