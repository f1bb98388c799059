import { ApiTroubles } from './api-troubles.ts';
import type { Dice } from './dice.ts';
import type { Ledger } from './ledger.ts';
import type { SimNode } from './node.ts';
import { PodSteps } from './pod-steps.ts';
import { TroubleSteps } from './trouble-steps.ts';

/** How likely each step is, beside the others. */
const podWeights = {
  addPod: 10,
  changePod: 4,
  removePod: 6,
  bringBack: 4,
  addApiPod: 8,
  deleteApiPod: 6,
  updateApiPod: 2,
  deleteMirror: 2,
  evict: 1,
  changeObjects: 3,
};
const troubleWeights = {
  removeOutside: 2,
  killContainer: 5,
  killSandbox: 2,
  failBefore: 5,
  failAfter: 6,
  delay: 4,
  hang: 3,
  loseEvents: 2,
  doubleEvents: 1,
  lateEvents: 1,
  runtimeCrash: 2,
  reboot: 1,
  fullDisk: 2,
  slowDisk: 3,
  deafRuntime: 3,
  stopAgent: 2,
  killAgent: 3,
  lightFuse: 5,
  lightStepFuse: 6,
  setWall: 2,
  driverFails: 4,
  driverGoes: 2,
};

const apiWeights = {
  apiAway: 2,
  apiRefuses: 2,
  apiLosesAnswers: 2,
  apiSlow: 1,
  watchesBreak: 2,
  watchesFallSilent: 0.5,
};

/** The hand that shakes the node: one step at a time, each chosen and measured by the dice. */
export class Chaos {
  readonly pods: PodSteps;
  readonly #troubles: TroubleSteps;
  readonly #api: ApiTroubles;
  readonly #node: SimNode;
  readonly #dice: Dice;

  constructor(node: SimNode, ledger: Ledger, dice: Dice) {
    this.#node = node;
    this.#dice = dice;
    this.pods = new PodSteps(node, ledger, dice);
    this.#troubles = new TroubleSteps(node, dice);
    this.#api = new ApiTroubles(node, dice);
  }

  step(): void {
    const name = this.#dice.weighted({ ...podWeights, ...troubleWeights, ...apiWeights });
    const told = this.#take(name);
    if (told !== undefined) this.#node.trail.note(`** ${name} ${told}`);
  }

  #take(name: PodStep | TroubleStep | ApiStep): string | undefined {
    if (name in podWeights) return this.pods[name as PodStep]();
    return name in apiWeights ? this.#api[name as ApiStep]() : this.#troubles[name as TroubleStep]();
  }
}

type ApiStep = keyof typeof apiWeights;
type PodStep = keyof typeof podWeights;
type TroubleStep = keyof typeof troubleWeights;
