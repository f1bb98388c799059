import {
  agentStories,
  changeStories,
  graceStories,
  hookStories,
  imageStories,
  insideStories,
  orderStories,
  probeStories,
  restartStories,
  rightStories,
  wordStories,
} from '../stories/index.ts';
import { openFakeStage } from '../stories/fake-stage.ts';

/** The stories that test/real plays on containerd, in virtual time. */
restartStories(openFakeStage);
orderStories(openFakeStage);
hookStories(openFakeStage);
graceStories(openFakeStage);
probeStories(openFakeStage);
wordStories(openFakeStage);
imageStories(openFakeStage);
insideStories(openFakeStage);
rightStories(openFakeStage);
changeStories(openFakeStage);
agentStories(openFakeStage);
