import type { Clock } from '../../base/clock.ts';
import type { CertificateSigningRequest } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { mapAt } from './json.ts';
import { kindOfResource } from './kinds.ts';
import { keyOf, type ObjectStore } from './store.ts';

/** What becomes of a request for a certificate. Nothing yet: undefined. */
export type SignerVerdict =
  | { readonly certificate: string }
  | { readonly condition: 'Denied' | 'Failed'; readonly reason: string; readonly message: string };

export type Signer = (
  request: CertificateSigningRequest,
) => SignerVerdict | undefined | Promise<SignerVerdict | undefined>;

const requests = kindOfResource(apiResources.certificateSigningRequests);

/** Writes a verdict into the status, as approver and signer do. */
export function settleRequest(
  store: ObjectStore,
  clock: Pick<Clock, 'now'>,
  name: string,
  verdict: SignerVerdict,
): void {
  const current = store.get(requests, keyOf(undefined, name));
  if (current === undefined) throw new Error(`there is no certificate signing request ${name}`);
  const time = apiTime(clock.now());
  const condition =
    'certificate' in verdict
      ? { type: 'Approved', reason: 'AutoApproved', message: 'approved by the fake API server' }
      : { type: verdict.condition, reason: verdict.reason, message: verdict.message };
  const conditions = [{ ...condition, status: 'True', lastUpdateTime: time, lastTransitionTime: time }];
  const certificate =
    'certificate' in verdict ? { certificate: Buffer.from(verdict.certificate).toString('base64') } : {};
  const status: JsonMap = { ...mapAt(current, 'status'), conditions, ...certificate };
  store.put(requests, keyOf(undefined, name), { ...current, status });
}

/** Lets a signer answer each new request, after what is going on has been done. */
export function answerRequests(
  store: ObjectStore,
  clock: Clock,
  signer: Signer,
  onError: (error: unknown) => void,
): void {
  const answer = async (request: CertificateSigningRequest, name: string): Promise<void> => {
    const verdict = await signer(request);
    if (verdict !== undefined) settleRequest(store, clock, name, verdict);
  };
  store.listen(({ kind, before, after }) => {
    if (kind !== requests || before !== undefined || after === undefined) return;
    const { name } = after.metadata;
    clock.after(0, () => void answer(after as unknown as CertificateSigningRequest, name).catch(onError));
  });
}
