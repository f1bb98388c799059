import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { idlePod } from '../../support/real-pods.ts';
import { clock, until } from '../../support/real-wait.ts';
import { ClusterView, type Namespace } from './cluster-view.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { prepareNode, type JoinedNode } from './join-node.ts';
import { loopbackPorts } from './loopback-ports.ts';
import { portraitOf } from './survival/node-state.ts';

/**
 * The signer dates certificates back by five minutes. An agent renews after 70 to 90 percent of the time between both
 * dates, which for this one is within 65 seconds, or even at once.
 */
const signingSeconds = 105;
const backdatedSeconds = 300;

let plane: ControlPlane;
let node: JoinedNode;
let view: ClusterView;
let here: Namespace;
let readOnlyPort = 0;
before(async () => {
  plane = await startControlPlane({ signingDuration: `${signingSeconds}s` });
  [readOnlyPort = 0] = await loopbackPorts(1);
  const config = { rotateCertificates: true, readOnlyPort };
  node = await prepareNode(plane, { name: 'newcomer', bootstrap: true, config });
  view = new ClusterView(plane);
});
after(async () => {
  view?.close();
  await node?.destroy();
  await plane?.stop();
});

const user = 'system:node:newcomer';
const current = (): X509Certificate =>
  new X509Certificate(readFileSync(join(node.names.kubeletRoot, 'pki', 'kubelet-client-current.pem')));

/** Fingerprints of the certificates by which the API server knew the node, in order, as its audit log has them. */
function credentialsSeen(): readonly string[] {
  const key = 'authentication.kubernetes.io/credential-id';
  const ids = plane.audit().flatMap((event) => {
    const { extra } = event.user as { readonly extra?: Readonly<Record<string, readonly string[]>> };
    return event.user.username === user ? (extra?.[key] ?? []) : [];
  });
  return [...new Set(ids)].map((id) => id.replace('X509SHA256=', '').toUpperCase());
}

async function metric(name: string): Promise<number> {
  const answer = await fetch(`http://${node.address}:${readOnlyPort}/metrics`, { signal: AbortSignal.timeout(5_000) });
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(await answer.text())?.[1] ?? Number.NaN);
}

describe('a machine with nothing but a token', () => {
  test('asks for an identity, gets it from the controller manager, and becomes a node', async () => {
    node.start('tubelet');
    const { metadata } = await node.ready();
    assert.equal(metadata?.name, 'newcomer');
    const { subject, validFrom, validTo } = current();
    assert.equal(subject, `O=system:nodes\nCN=${user}`);
    const livesMs = Date.parse(validTo) - Date.parse(validFrom);
    assert.equal(livesMs, (signingSeconds + backdatedSeconds) * 1_000);
    const requests = await plane.ask(
      'get',
      'csr',
      '--output=jsonpath={range .items[*]}{.spec.signerName} {.spec.username} {.status.conditions[*].type}{"\\n"}{end}',
    );
    const [first = ''] = requests.trim().split('\n');
    assert.match(first, /^kubernetes\.io\/kube-apiserver-client-kubelet system:bootstrap:[0-9a-f]{6} Approved$/);
  });

  test('renews it while a pod runs, and nobody notices', async () => {
    here = await view.namespace('rotation');
    const { spec } = idlePod('web', node.image) as { readonly spec: object };
    await here.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec });
    const before = portraitOf(await here.podReady('web'));
    const { fingerprint256: first, validTo } = current();
    assert.ok((await metric('kubelet_certificate_manager_client_ttl_seconds')) <= signingSeconds);

    const second = await until(
      'there is another certificate',
      () => {
        const { fingerprint256 } = current();
        return fingerprint256 !== first && fingerprint256;
      },
      { timeoutMs: 120_000, state: () => node.agent.text.slice(-2_000) },
    );
    await until('the API server knows the node by it', () => credentialsSeen().includes(second.replaceAll(':', '')), {
      timeoutMs: 60_000,
    });
    assert.match(node.agent.text, /Client certificate was rotated/);
    assert.ok(Date.parse(current().validTo) > Date.parse(validTo));

    // The old one is of no use any more to whoever still watches with it: everything must have moved on by now.
    await until('the first certificate has expired', () => clock.now() > Date.parse(validTo) + 1_000, {
      timeoutMs: signingSeconds * 1_000,
    });
    await here.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'later' }, spec });
    await here.podReady('later');
    await node.ready();
    assert.deepEqual(portraitOf(await here.podReady('web')), before);
    assert.equal(node.agent.running, true);
    assert.deepEqual(plane.auditForbidden(), []);
    const refused = plane.audit().filter(({ responseStatus }) => responseStatus?.code === 401);
    assert.deepEqual(refused, []);
  });
});
