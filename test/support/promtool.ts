import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Who runs the tests has fetched the programs and says where they are: tools/lib/prometheus-programs.mjs. */
const folder = process.env['TUBELET_PROMETHEUS_PROGRAMS'];

/** Why tests with Prometheus are left out here; false where they can run. */
export const withoutPrometheus: string | false =
  folder === undefined &&
  (process.env['TUBELET_NO_PROMETHEUS'] ?? 'nobody has fetched Prometheus; start this by npm test');

export function prometheusProgram(name: 'promtool' | 'prometheus'): string {
  if (folder === undefined) throw new Error(`no ${name}: ${withoutPrometheus}`);
  return join(folder, name);
}

/** What `promtool check metrics` complains about; throws when it cannot even read the page. */
export function checkMetrics(page: string): readonly string[] {
  const { status, stderr, error } = spawnSync(prometheusProgram('promtool'), ['check', 'metrics'], {
    input: page,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  // 3 are complaints about names and their like, 1 is a page that is not in the format.
  if (status !== 0 && status !== 3) throw new Error(`promtool ended with ${status}: ${stderr.trim()}`);
  return [...new Set(stderr.split('\n').filter((line) => line !== ''))];
}
