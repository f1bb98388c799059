// What scrapes cost: processor time of tubelet and of the Go kubelet for each page of usage, over the same pods of one real
// containerd. Pods are started once; the agents take them over from each other. Pages are asked for over TLS with a client
// certificate, on a connection that stays.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/system-clock.ts';
import { goKubeletTurn } from '../test/real/control-plane/go-kubelet-turn.ts';
import type { AgentProgram } from '../test/real/control-plane/join-node.ts';
import { BenchCluster, namespaceOf } from './support-pods-cluster.ts';
import { Scraper, type Answer } from './support-scraper.ts';
import { usage } from './support-usage.ts';
import { median, record } from './support.ts';

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: 'tubelet,kubelet' },
    pods: { type: 'string', default: '100' },
    containers: { type: 'string', default: '1' },
    pages: { type: 'string', default: '/stats/summary,/metrics/cadvisor,/metrics/resource' },
    /** Scrapes of each page one soon after the other, in each round. */
    close: { type: 'string', default: '20' },
    /** Scrapes of the first two pages one every ten seconds, in each round. */
    regular: { type: 'string', default: '6' },
    /** A round is a time in which a page is asked for and one as long in which nobody asks: what agents do besides varies. */
    rounds: { type: 'string', default: '2' },
    /** Also writes processor profiles of tubelet to bench/results, which is not measured. */
    profile: { type: 'boolean', default: false },
  },
});
const numbers = (['pods', 'containers', 'close', 'regular', 'rounds'] as const).map((name) => Number(options[name]));
const [pods = 0, containers = 0, close = 0, regular = 0, rounds = 0] = numbers;
const agentsInTurn = (['tubelet', 'kubelet'] as const).filter((name) => options.agents.split(',').includes(name));

const aim = 0.7;
const knownPages = ['/stats/summary', '/metrics/cadvisor', '/metrics/resource'] as const;
type Page = (typeof knownPages)[number];
const pages = knownPages.filter((page) => options.pages.split(',').includes(page));
/** Longer than tubelet gives several askers one answer, so that each scrape is one. */
const closeMs = 1_200;
const regularMs = 10_000;
const settleMs = 20_000;
/** As many as the engine needs to have done with compiling a page: an agent runs for months, and Go compiles before. */
const warmUps = 300;
const atOnce = 25;
const profileSeconds = 20;

interface Cost {
  /** Processor time of the agent per scrape, less what it took in as much time when nobody asked, right after. */
  readonly scrapeMs: number;
  /** All processor time of the agent while scrapes go on, in hundredths of a core. */
  readonly percent: number;
  /** The runtime's, the same way: of one an agent asks more, of another less. */
  readonly runtimePercent: number;
  readonly answerMs: number;
  readonly bytes: number;
}
interface AgentCosts {
  readonly idlePercent: number;
  readonly runtimeIdlePercent: number;
  readonly rssMb: number;
  readonly close: Partial<Record<Page, Cost>>;
  readonly regular: Partial<Record<Page, Cost>>;
}

const clock = systemClock();
const results: Partial<Record<AgentProgram, AgentCosts>> = {};
const loads: number[] = [];
/** Of the agent that is measured now. */
let idleRates: Rates[] = [];

const cluster = await BenchCluster.start();
try {
  for (const [index, agent] of agentsInTurn.entries()) {
    const turn = agent === 'kubelet' ? await goKubeletTurn() : undefined;
    await cluster.use(agent);
    if (index === 0) await populate();
    results[agent] = await measure(agent);
    await cluster.stopAgent();
    await turn?.release();
  }
} finally {
  await cluster.destroy();
}
report();

async function populate(): Promise<void> {
  for (let first = 0; first < pods; first += atOnce) {
    const names = Array.from({ length: Math.min(atOnce, pods - first) }, (_, index) => `scraped-${first + index}`);
    await Promise.all(names.map((name) => cluster.create(namespaceOf.tubelet, name, containers)));
    console.error(`${first + names.length} pods run`);
  }
}

async function measure(agent: AgentProgram): Promise<AgentCosts> {
  const server = new Scraper(await cluster.agentServer());
  try {
    await clock.sleep(settleMs);
    for (const page of pages) await scrapes(server, page, warmUps, closeMs);
    idleRates = [];
    const costs = { close: {} as Record<Page, Cost>, regular: {} as Record<Page, Cost> };
    for (const page of pages) costs.close[page] = await cost(server, page, { times: close, everyMs: closeMs });
    if (regular > 0) {
      for (const page of pages.filter((name) => name !== '/metrics/resource')) {
        costs.regular[page] = await cost(server, page, { times: regular, everyMs: regularMs });
      }
    }
    const { rssMb } = usage(cluster.agentPid);
    if (options.profile && agent === 'tubelet') for (const page of pages) await profile(server, page);
    const idle = together(idleRates);
    const [idlePercent, runtimeIdlePercent] = [idle.agent * 100, idle.runtime * 100];
    const measured = { idlePercent, runtimeIdlePercent, rssMb, ...costs };
    console.error(agent, JSON.stringify(measured, null, 1));
    return measured;
  } finally {
    server.close();
  }
}

interface Rates {
  readonly seconds: number;
  /** Shares of a core. */
  readonly agent: number;
  readonly runtime: number;
}

/** Of several times, as if they were one. */
function together(rates: readonly Rates[]): Rates {
  const seconds = rates.reduce((sum, rate) => sum + rate.seconds, 0);
  const share = (of: 'agent' | 'runtime'): number =>
    rates.reduce((sum, rate) => sum + rate[of] * rate.seconds, 0) / seconds;
  return { seconds, agent: share('agent'), runtime: share('runtime') };
}

async function lapse(work: () => Promise<void>): Promise<Rates> {
  const pids = [cluster.agentPid, cluster.runtimePid];
  const before = pids.map((pid) => usage(pid).cpuSeconds);
  const beganMs = performance.now();
  await work();
  const seconds = (performance.now() - beganMs) / 1_000;
  const [agent = 0, runtime = 0] = pids.map((pid, index) => (usage(pid).cpuSeconds - (before[index] ?? 0)) / seconds);
  loads.push(loadavg()[0] ?? Number.NaN);
  return { seconds, agent, runtime };
}

async function cost(
  server: Scraper,
  page: Page,
  { times, everyMs }: { readonly times: number; readonly everyMs: number },
): Promise<Cost> {
  const answers: Answer[] = [];
  const [asked, left]: [Rates[], Rates[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    asked.push(await lapse(async () => void answers.push(...(await scrapes(server, page, times, everyMs)))));
    left.push(await lapse(() => clock.sleep(times * everyMs)));
  }
  idleRates.push(...left);
  const [busy, idle] = [together(asked), together(left)];
  return {
    scrapeMs: ((busy.agent - idle.agent) * busy.seconds * 1_000) / answers.length,
    percent: busy.agent * 100,
    runtimePercent: busy.runtime * 100,
    answerMs: median(answers.map(({ ms }) => ms)),
    bytes: answers.at(-1)?.bytes ?? 0,
  };
}

/** Each begins at its time, however long the one before took; the last one's time passes, too. */
async function scrapes(server: Scraper, page: Page, times: number, everyMs: number): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const beganMs = performance.now();
  for (let round = 1; round <= times; round++) {
    answers.push(await server.get(page));
    await clock.sleep(Math.max(beganMs + round * everyMs - performance.now(), 0));
  }
  return answers;
}

async function profile(server: Scraper, page: Page): Promise<void> {
  const profiled = server.get(`/debug/pprof/profile?seconds=${profileSeconds}`);
  await scrapes(server, page, Math.floor((profileSeconds * 1_000) / closeMs), closeMs);
  writeFileSync(`bench/results/scrape${page.replaceAll('/', '-')}.pprof`, (await profiled).body);
}

function report(): void {
  const load = { median: median(loads), most: Math.max(...loads) };
  record('scrape', { pods, containers, close, regular, rounds, aim, results, load });
  console.log(`${pods} pods of ${containers} containers; load ${load.median.toFixed(1)} on ${cpus().length} cores`);
  const shown = agentsInTurn.flatMap((agent) => (results[agent] ? [{ agent, ...results[agent] }] : []));
  for (const { agent, idlePercent, runtimeIdlePercent, rssMb } of shown) {
    console.log(
      `  ${agent}: nobody asks: ${idlePercent.toFixed(1)} % of a core, its runtime ${runtimeIdlePercent.toFixed(1)} %; ` +
        `${rssMb.toFixed(0)} MB after all`,
    );
  }
  for (const kind of ['close', 'regular'] as const) {
    console.log(
      `  one ${kind === 'close' ? `every ${closeMs} ms, ${close * rounds}` : `every ${regularMs} ms, ${regular * rounds}`} times`,
    );
    for (const page of pages) {
      const [ours, theirs] = [results.tubelet?.[kind][page], results.kubelet?.[kind][page]];
      if (ours !== undefined) console.log(line(page, 'tubelet', ours));
      if (theirs !== undefined) console.log(line(page, 'kubelet', theirs));
      if (ours === undefined || theirs === undefined) continue;
      const ratio = ours.scrapeMs / theirs.scrapeMs;
      const verdict = ratio <= aim ? '' : '  MISSED';
      console.log(
        `    ratio of CPU per scrape ${ratio.toFixed(2)} (aim: at most ${aim})${verdict}, ` +
          `of all CPU meanwhile ${(ours.percent / theirs.percent).toFixed(2)}`,
      );
    }
  }
}

function line(page: Page, agent: AgentProgram, { scrapeMs, percent, runtimePercent, answerMs, bytes }: Cost): string {
  return (
    `    ${page.padEnd(18)} ${agent}: ${scrapeMs.toFixed(1)} ms of CPU per scrape; in all ${percent.toFixed(1)} % of a core, ` +
    `its runtime ${runtimePercent.toFixed(1)} %; answer after ${answerMs.toFixed(0)} ms, ${Math.round(bytes / 1_024)} kB`
  );
}
