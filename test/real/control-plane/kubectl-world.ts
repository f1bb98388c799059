import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { until } from '../../support/real-wait.ts';
import type { KeyPair } from './certificates.ts';
import { ClusterView, Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { joinNode, type JoinedNode } from './join-node.ts';
import { podsOf, staticPod } from './kubectl-pods.ts';
import { KubectlSession, KubectlTerminal, type SessionEnd } from './kubectl-session.ts';

/** What somebody shows who asks the agent itself. */
export type Shown = KeyPair | { readonly token: string } | undefined;

interface Answer {
  readonly status: number;
  readonly body: string;
}

const answerMs = 60_000;
const nodeName = 'node-1';

/** Files of the node that are replaced while the agent runs. */
interface NodeFiles {
  /** The authorities whose clients the agent knows. */
  readonly clients: string;
  readonly serving: KeyPair;
}

/** A cluster with one node and some pods, and those who talk with it: by kubectl, or with the agent itself. */
export class KubectlWorld {
  readonly plane: ControlPlane;
  readonly node: JoinedNode;
  readonly files: NodeFiles;
  readonly here: Namespace;
  readonly #view: ClusterView;
  readonly #port: number;
  readonly #sessions: KubectlSession[] = [];

  private constructor(plane: ControlPlane, node: JoinedNode, files: NodeFiles) {
    this.plane = plane;
    this.node = node;
    this.files = files;
    this.#view = new ClusterView(plane);
    this.here = new Namespace(this.#view, 'default');
    this.#port = (JSON.parse(readFileSync(node.names.kubeletConfig, 'utf8')) as { readonly port: number }).port;
  }

  /** Answers when the pods are there. */
  static async start(): Promise<KubectlWorld> {
    const plane = await startControlPlane();
    let node: JoinedNode | undefined;
    try {
      const files = await nodeFiles(plane);
      node = await joinNode(plane, { name: nodeName, config: nodeConfig(files) });
      const world = new KubectlWorld(plane, node, files);
      await world.#fill();
      return world;
    } catch (error) {
      await node?.destroy();
      await plane.stop();
      throw error;
    }
  }

  async #fill(): Promise<void> {
    writeFileSync(join(this.node.names.manifests, 'fixed.json'), JSON.stringify(staticPod(this.node.image)));
    await this.here.apply(...podsOf(this.node.image));
    const names = ['talk', 'again', 'flood', 'brief', 'serve', 'reads', `fixed-${nodeName}`];
    await Promise.all(names.map((name) => this.here.podReady(name)));
  }

  /** A kubectl that is talked with. */
  session(...words: readonly string[]): KubectlSession {
    return this.#keep(new KubectlSession(this.plane, this.plane.kubectlPath, words));
  }

  /** The same at a terminal of a size in the words of stty. */
  terminal(size: string, ...words: readonly string[]): KubectlTerminal {
    return this.#keep(new KubectlTerminal(this.plane, size, words));
  }

  #keep<Session extends KubectlSession>(session: Session): Session {
    this.#sessions.push(session);
    return session;
  }

  /** Runs kubectl to its end. */
  run(words: readonly string[], input: string | Buffer = ''): Promise<SessionEnd> {
    const session = this.session(...words);
    session.end(input);
    return session.ended;
  }

  /** A page of the agent, by way of the API server. */
  raw(path: string): Promise<string> {
    return this.plane.ask('get', '--raw', `/api/v1/nodes/${nodeName}/proxy/${path}`);
  }

  /** How to reach the agent itself, by TLS and as somebody. */
  direct(shown: Shown): {
    readonly host: string;
    readonly port: number;
    readonly tls: ConnectionOptions;
    readonly headers: readonly string[];
  } {
    const pair = shown !== undefined && 'key' in shown ? shown : undefined;
    return {
      host: this.node.address,
      port: this.#port,
      tls: {
        ca: this.plane.authority.pem,
        servername: nodeName,
        ...(pair && { cert: readFileSync(pair.certificate), key: readFileSync(pair.key) }),
      },
      headers: shown !== undefined && 'token' in shown ? [`Authorization: Bearer ${shown.token}`] : [],
    };
  }

  /** What the agent itself answers somebody. */
  asked(path: string, shown: Shown, method = 'GET'): Promise<Answer> {
    const { host, port, tls } = this.direct(shown);
    const headers = shown !== undefined && 'token' in shown ? { authorization: `Bearer ${shown.token}` } : {};
    return new Promise((resolve, reject) => {
      const options = {
        ...tls,
        host,
        port,
        path,
        method,
        headers,
        agent: false,
        signal: AbortSignal.timeout(answerMs),
      };
      const outgoing = request(options, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      outgoing.on('error', reject).end();
    });
  }

  /** Another agent in the place of the one that runs, with these variables; answers when it knows the pods. */
  async restartAgent(variables: Readonly<Record<string, string>>, shown: Shown): Promise<void> {
    await this.node.stopAgent();
    Object.assign(process.env, variables);
    try {
      this.node.start('tubelet');
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
    const state = (): string => this.node.agent.text.slice(-2_000);
    const knows = async (): Promise<boolean> => (await this.asked('/pods', shown)).body.includes('"name":"talk"');
    await until('the agent knows its pods', knows, { timeoutMs: answerMs, state });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.kill()));
    this.#view.close();
    await this.node.destroy();
    await this.plane.stop();
  }
}

async function nodeFiles(plane: ControlPlane): Promise<NodeFiles> {
  const file = (name: string): string => join(plane.path, name);
  const serving = await plane.authority.issue('serving-1', servingSubject);
  const files = { clients: file('clients.crt'), serving: { certificate: file('node.crt'), key: file('node.key') } };
  copyFileSync(plane.authority.certificate, files.clients);
  copyFileSync(serving.certificate, files.serving.certificate);
  copyFileSync(serving.key, files.serving.key);
  return files;
}

export const servingSubject = { user: `system:node:${nodeName}`, group: 'system:nodes', names: [`DNS:${nodeName}`] };

function nodeConfig({ clients, serving }: NodeFiles): Readonly<Record<string, unknown>> {
  return {
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: clients },
    },
    // What the API server said is forgotten soon, because here it changes its mind.
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '1s', cacheUnauthorizedTTL: '1s' } },
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    containerLogMaxSize: '256Ki',
    containerLogMonitorInterval: '3s',
  };
}
