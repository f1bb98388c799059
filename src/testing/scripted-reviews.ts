import { TubeletError } from '../base/errors.ts';
import type { SubjectAccessReview, SubjectAccessReviewSpec, TokenReview } from '../gen/kubernetes/types.ts';
import type { ApiObject, ApiWriter, RequestOptions } from '../model/api-client.ts';
import { apiResources, type ApiResource } from '../model/api-resources.ts';

/** An API server that only judges tokens and accesses, as a test tells it to. */
export class ScriptedReviews {
  /** What each request asked for: a token, or `user verb subresource`. */
  readonly asked: string[] = [];
  readonly objects: ApiObject[] = [];
  readonly options: (RequestOptions | undefined)[] = [];
  /** Thrown instead of the next answers, in order. */
  readonly failures: Error[] = [];
  token: (token: string) => TokenReview['status'] = () => ({ authenticated: false });
  access: (spec: SubjectAccessReviewSpec) => SubjectAccessReview['status'] = () => ({ allowed: false });
  /** Every answer waits for it. */
  gate: Promise<void> = Promise.resolve();

  readonly api: Pick<ApiWriter, 'create'> = {
    create: async <T extends ApiObject, R = T>(
      resource: ApiResource,
      _namespace: string | undefined,
      object: T,
      options?: RequestOptions,
    ): Promise<R> => {
      this.objects.push(object);
      this.options.push(options);
      const answer = resource === apiResources.tokenReviews ? this.#judgeToken(object) : this.#judgeAccess(object);
      const failure = this.failures.shift();
      await this.gate;
      if (failure !== undefined) throw failure;
      return answer as R;
    },
  };

  #judgeToken(object: ApiObject): ApiObject {
    const review = object as TokenReview;
    const { token = '' } = review.spec;
    this.asked.push(token);
    const status = this.token(token);
    return { ...review, ...(status !== undefined && { status }) };
  }

  #judgeAccess(object: ApiObject): ApiObject {
    const review = object as SubjectAccessReview;
    const { user, resourceAttributes: { verb, subresource } = {} } = review.spec;
    this.asked.push(`${user} ${verb} ${subresource}`);
    const status = this.access(review.spec);
    return { ...review, ...(status !== undefined && { status }) };
  }
}

/** What a client of the API throws for an answer with that status. */
export function refusal(status: number, kind: TubeletError['kind']): TubeletError {
  return Object.assign(new TubeletError(kind, `HTTP status ${status}`), { status });
}
