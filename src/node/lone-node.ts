import type { Component } from '../base/component.ts';
import type { NodeView } from './node-view.ts';
import type { OwnNode } from './own-node.ts';

interface LoneNodeDeps {
  readonly own: OwnNode;
  readonly view: Pick<NodeView, 'setOwn'>;
}

/** The node of an agent without an API server: it is not written anywhere, but pods and their admission read it. */
export class LoneNode implements Component {
  readonly name = 'node-view';
  readonly #deps: LoneNodeDeps;

  constructor(deps: LoneNodeDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { own, view } = this.#deps;
    view.setOwn((await own.initial()).node);
  }

  async stop(): Promise<void> {}
}
