import { describe } from 'node:test';
import type { CgroupSubject } from './bench.ts';
import { managerSuite } from './manager-suite.ts';
import { podSuite } from './pod-suite.ts';

export { fakeBench } from './fake-bench.ts';
export { realBench } from './real-bench.ts';

/** What holds for every driver. */
export function cgroupConformance(subject: CgroupSubject): void {
  void describe(`cgroups: ${subject.name}`, () => {
    managerSuite(subject);
    podSuite(subject);
  });
}
