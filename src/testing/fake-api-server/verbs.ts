import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { apiTime } from '../../model/api-time.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { checkPreconditions, decideDelete, isReleased, parseDelete } from './deletes.ts';
import { mapAt, textAt, type Stored } from './json.ts';
import { kindOfResource, namespaces, type FakeKind } from './kinds.ts';
import { newObject, parseObject, parseJson, type FakeUser } from './new-objects.ts';
import { alreadyExists, conflict, methodNotAllowed, noSuchPath, notFound } from './refusal.ts';
import type { Call } from './route.ts';
import { keyOf, type ObjectStore } from './store.ts';
import type { FakeTokens } from './tokens.ts';
import { patched, updated, type UpdateRequest } from './updates.ts';

interface VerbsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly uidOf?: ((object: JsonMap) => string | undefined) | undefined;
  readonly store: ObjectStore;
  readonly tokens: FakeTokens;
  /** Answers a SubjectAccessReview by its spec. */
  readonly allows: (spec: JsonMap) => boolean;
}

interface Answer {
  readonly status: number;
  readonly value: JsonMap;
}

const namespaceKind = kindOfResource(namespaces);
const accountKind = kindOfResource(apiResources.serviceAccounts);

/** The verbs that write or read one object, without any fault: what an API server does to its store. */
export class Verbs {
  readonly #deps: VerbsDeps;

  constructor(deps: VerbsDeps) {
    this.#deps = deps;
  }

  carryOut(call: Call, user: FakeUser): Answer {
    switch (call.verb) {
      case 'get':
        return this.#get(call);
      case 'create':
        return this.#create(call, user);
      case 'update':
        return this.#update(call, user);
      case 'patch':
        return this.#patch(call);
      case 'delete':
        return this.#delete(call);
      case 'list':
      case 'watch':
      default:
        throw methodNotAllowed();
    }
  }

  #get(call: Call): Answer {
    if (call.subresource !== undefined && !call.kind.statusWriters.includes(call.subresource)) throw noSuchPath();
    return { status: 200, value: this.#found(call) };
  }

  #create(call: Call, user: FakeUser): Answer {
    const { kind, namespace, subresource, body } = call;
    if (subresource !== undefined) return { status: 201, value: this.#createBelow(call) };
    const object = parseObject(kind, namespace, body);
    if (kind.isVirtual === true) return { status: 201, value: this.#review(kind, object) };
    return { status: 201, value: this.insert(kind, namespace, object, user) };
  }

  /** Stores a new object by the rules, whoever sends it. */
  insert(kind: FakeKind, namespace: string | undefined, object: JsonMap, user: FakeUser): Stored {
    const { store } = this.#deps;
    if (kind.namespaced && store.get(namespaceKind, keyOf(undefined, namespace ?? '')) === undefined) {
      throw notFound(namespaceKind, namespace ?? '');
    }
    const made = newObject(this.#deps, kind, namespace, object, user);
    const { name } = made.metadata;
    if (store.get(kind, keyOf(namespace, name)) !== undefined) throw alreadyExists(kind, name);
    const stored = store.put(kind, keyOf(namespace, name), made);
    // A controller does that, in a real cluster.
    if (kind === namespaceKind) this.insert(accountKind, name, { metadata: { name: 'default' } }, user);
    return stored;
  }

  #update(call: Call, user: FakeUser): Answer {
    const { kind, namespace, name = '', subresource, body } = call;
    this.#checkWriter(call);
    const wanted = parseObject(kind, namespace, body);
    const current = this.#deps.store.get(kind, keyOf(namespace, name));
    if (current === undefined && kind.createsOnUpdate === true) {
      return { status: 201, value: this.insert(kind, namespace, wanted, user) };
    }
    if (current === undefined) throw notFound(kind, name);
    return { status: 200, value: this.write({ kind, current, wanted, subresource, isPatch: false }) };
  }

  #patch(call: Call): Answer {
    const { kind, contentType, subresource, body } = call;
    this.#checkWriter(call);
    const current = this.#found(call);
    const wanted = patched(kind, current, contentType, body);
    return { status: 200, value: this.write({ kind, current, wanted, subresource, isPatch: true }) };
  }

  /** Stores what follows from a write; the last finalizer to go takes the object along. */
  write(request: UpdateRequest): JsonMap {
    const { kind, current } = request;
    const next = updated(request);
    if (next === current) return current;
    const key = keyOf(current.metadata.namespace, current.metadata.name);
    if (!isReleased(next)) return this.#deps.store.put(kind, key, next);
    this.#deps.store.remove(kind, key);
    return next;
  }

  #delete(call: Call): Answer {
    const { store, clock } = this.#deps;
    const { kind, namespace, name = '', body, query } = call;
    const current = this.#found(call);
    const options = parseDelete(body, query);
    checkPreconditions(kind, current, options);
    const decision = decideDelete(kind, current, options, clock.now());
    const key = keyOf(namespace, name);
    if (decision.kind === 'keep') return { status: 200, value: current };
    let last = current;
    // Watches see the mark before the end, also when there is nothing in between.
    if (decision.kind === 'mark') last = store.put(kind, key, { ...current, metadata: decision.metadata });
    if (decision.kind === 'mark' && !decision.thenRemove) return { status: 200, value: last };
    last = store.remove(kind, key) ?? last;
    return { status: 200, value: kind.tellsLastState === true ? last : deleted(kind, last) };
  }

  #found({ kind, namespace, name = '' }: Call): Stored {
    const object = this.#deps.store.get(kind, keyOf(namespace, name));
    if (object === undefined) throw kind.isVirtual === true ? methodNotAllowed() : notFound(kind, name);
    return object;
  }

  #checkWriter({ kind, subresource }: Call): void {
    if (subresource !== undefined && !kind.statusWriters.includes(subresource)) throw noSuchPath();
  }

  #createBelow(call: Call): JsonMap {
    const { kind, subresource, body } = call;
    const what = `${kind.plural}/${subresource}`;
    if (what !== 'serviceaccounts/token' && what !== 'pods/binding') throw noSuchPath();
    const object = this.#found(call);
    const request = parseJson(body, 'the object provided is unrecognized');
    if (what === 'serviceaccounts/token') return this.#deps.tokens.request(object, request, this.#deps.store);
    this.bind(object, textAt(request, 'target', 'name'));
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  }

  /** What a scheduler does in the end. */
  bind(pod: Stored, node: string): Stored {
    const { store, clock } = this.#deps;
    const { name, namespace } = pod.metadata;
    const pods = kindOfResource(apiResources.pods);
    const present = textAt(pod, 'spec', 'nodeName');
    if (present !== '') {
      const asked = { ...pods, plural: 'pods/binding' };
      throw conflict(asked, name, `pod ${name} is already assigned to node "${present}"`);
    }
    const status = mapAt(pod, 'status');
    const others = (Array.isArray(status['conditions']) ? (status['conditions'] as readonly JsonMap[]) : []).filter(
      (condition) => condition['type'] !== 'PodScheduled',
    );
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: apiTime(clock.now()) };
    return store.put(pods, keyOf(namespace, name), {
      ...pod,
      spec: { ...mapAt(pod, 'spec'), nodeName: node },
      status: { ...status, conditions: [...others, scheduled] },
    });
  }

  #review(kind: FakeKind, review: JsonMap): JsonMap {
    const spec = mapAt(review, 'spec');
    const head = { ...review, kind: kind.kind, apiVersion: `${kind.group}/${kind.version}`, metadata: {} };
    if (kind.plural === 'subjectaccessreviews') return { ...head, status: { allowed: this.#deps.allows(spec) } };
    const user = this.#deps.tokens.userOf(textAt(spec, 'token'));
    if (user === undefined) return { ...head, status: { user: {}, error: 'invalid bearer token' } };
    const audiences = Array.isArray(spec['audiences']) ? { audiences: spec['audiences'] as unknown } : {};
    const known = { username: user.name, groups: user.groups };
    return { ...head, status: { authenticated: true, user: known, ...audiences } };
  }
}

function deleted({ plural, group }: FakeKind, { metadata: { name, uid } }: Stored): JsonMap {
  const details = { name, ...(group !== '' && { group }), kind: plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
