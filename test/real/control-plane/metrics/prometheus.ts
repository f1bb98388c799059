import { readFileSync, writeFileSync } from 'node:fs';
import { prometheusProgram } from '../../../support/promtool.ts';
import type { ControlPlane } from '../control-plane.ts';
import { loopbackPorts } from '../loopback-ports.ts';
import { metricsPages, type AgentPages } from './agent-pages.ts';

/** One series of an answer. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Its counts of samples of a page that could not be kept as they were. */
const refusals =
  /^(prometheus_target_(?:scrapes_(?:sample_(?:out_of_order|duplicate_timestamp|out_of_bounds)|exceeded_\w+)|scrape_pool_exceeded_\w+)_total) (\S+)$/gm;

/** A Prometheus that reads every page of an agent every second, as a job each. */
export class Prometheus {
  readonly #url: string;
  readonly #logFile: string;

  constructor(url: string, logFile: string) {
    this.#url = url;
    this.#logFile = logFile;
  }

  async query(expression: string): Promise<readonly Series[]> {
    const answer = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, data, error } = (await answer.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data?: {
        readonly result: readonly { readonly metric: Series['metric']; readonly value: [number, string] }[];
      };
    };
    if (status !== 'success' || data === undefined) throw new Error(`${expression}: ${error}`);
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  /** Samples that came and were not kept, by its own counts; those of which there is none are left out. */
  async refused(): Promise<Readonly<Record<string, number>>> {
    const counts = [...(await (await fetch(`${this.#url}/metrics`)).text()).matchAll(refusals)];
    if (counts.length < 3) throw new Error('this Prometheus does not count what it refuses');
    return Object.fromEntries(
      counts.map(([, name, count]) => [name, Number(count)] as const).filter(([, count]) => count > 0),
    );
  }

  /** What it has said that is not all right. A page that did not come in time is the machine's fault, and apart. */
  troubles(): { readonly late: number; readonly others: readonly string[] } {
    const lines = readFileSync(this.#logFile, 'utf8').split('\n');
    const bad = lines.filter((line) => /level=(warn|error)|Scrape failed/.test(line));
    const others = bad.filter((line) => !line.includes('context deadline exceeded'));
    return { late: bad.length - others.length, others };
  }
}

export async function startPrometheus(plane: ControlPlane, pages: AgentPages): Promise<Prometheus> {
  const [port = 0] = await loopbackPorts(1);
  const [config, data] = [plane.file('prometheus.json'), plane.file('prometheus-data')];
  writeFileSync(config, JSON.stringify(configuration(pages)), { mode: 0o600 });
  const url = `http://127.0.0.1:${port}`;
  const service = await plane.startService({
    program: prometheusProgram('prometheus') as `/${string}`,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
      // Only then it says why a page could not be read.
      '--log.level=debug',
    ],
    ready: async () => (await fetch(`${url}/-/ready`)).ok,
  });
  return new Prometheus(url, service.logFile);
}

/** JSON is YAML. */
function configuration({ address, token }: AgentPages): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: metricsPages.map((page) => ({
      job_name: page,
      metrics_path: page,
      scheme: 'https',
      authorization: { credentials: token },
      tls_config: { insecure_skip_verify: true },
      static_configs: [{ targets: [address] }],
    })),
  };
}
