import { readFileSync } from 'node:fs';
import { podUid } from '../../src/base/ids.ts';
import type { Pod, PodStatus, Volume } from '../../src/gen/kubernetes/types.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { wirePodMachine, type PodMachine } from '../../src/main/wire/pod-machine.ts';
import { apiTime } from '../../src/model/api-time.ts';
import { desiredPod, type DesiredPod } from '../../src/model/desired-pod.ts';
import { goQuote } from '../../src/model/go-text.ts';
import { defaultPod } from '../../src/model/pod-defaults.ts';
import { toStaticPod } from '../../src/model/static-pod.ts';
import { createProber, type Prober } from '../../src/pods/probes/index.ts';
import { httpProbeRequest } from '../../src/pods/probes/probers/http-request.ts';
import { dialFailure } from '../../src/pods/probes/probers/network-text.ts';
import type { PodEvent } from '../../src/pods/runtime/index.ts';
import { anAdmissionNode } from '../../src/testing/admission-node.ts';
import { createFakeCri, type FakeCri } from '../../src/testing/fake-cri/index.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import {
  goldenHostDns,
  goldenLookup,
  goldenNode,
  goldenPod,
  goldenSettings,
  goldenVolume,
  type GoldenRecord,
} from '../../src/testing/golden.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { missingObject } from './objects.ts';
