import type { HTTPGetAction, Lifecycle, LifecycleHandler, PodOS, Probe } from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { headerName } from './names.ts';
import { validatePortReference } from './ports.ts';

type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';
type Handler = Probe & LifecycleHandler;

const plainSignals =
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP ' +
  'TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX';
const linuxSignals: readonly string[] = [
  ...plainSignals.split(' ').map((name) => `SIG${name}`),
  ...Array.from({ length: 15 }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `SIGRTMAX-${index + 1}`),
];

export function validateProbe(
  kind: ProbeKind,
  probe: Probe | undefined,
  gracePeriod: number,
  path: FieldPath,
  faults: Faults,
): void {
  if (probe === undefined) return;
  validateHandler(probe, gracePeriod, path, faults);
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    faults.atLeast([...path, field], probe[field], 0);
  }
  const { successThreshold, terminationGracePeriodSeconds: grace } = probe;
  const gracePath = [...path, 'terminationGracePeriodSeconds'];
  if (grace !== undefined && kind === 'readinessProbe')
    faults.invalid(gracePath, grace, 'must not be set for readinessProbes');
  else if (grace !== undefined && grace <= 0) faults.invalid(gracePath, grace, 'must be greater than 0');
  // A restart begins anew, so one success is all there is to see.
  if (kind !== 'readinessProbe' && successThreshold !== undefined && successThreshold > 1) {
    faults.invalid([...path, 'successThreshold'], successThreshold, 'must be 1');
  }
}

export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  gracePeriod: number,
  os: PodOS | undefined,
  path: FieldPath,
  faults: Faults,
): void {
  if (lifecycle?.postStart) validateHandler(lifecycle.postStart, gracePeriod, [...path, 'postStart'], faults);
  if (lifecycle?.preStop) validateHandler(lifecycle.preStop, gracePeriod, [...path, 'preStop'], faults);
  if (lifecycle?.stopSignal === undefined) return;
  const at = [...path, 'stopSignal'];
  if (os === undefined) faults.forbidden(at, 'needs `spec.os.name` to be set');
  else faults.oneOf(at, lifecycle.stopSignal, os.name === 'windows' ? ['SIGKILL', 'SIGTERM'] : linuxSignals);
}

function validateHandler(handler: Handler, gracePeriod: number, path: FieldPath, faults: Faults): void {
  const kinds = (['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const).filter(
    (kind) => handler[kind] !== undefined,
  );
  if (kinds.length === 0) faults.required(path, 'must specify a handler type');
  for (const kind of kinds.slice(1)) faults.forbidden([...path, kind], 'may not specify more than 1 handler type');
  const first = kinds[0];
  const at = first === undefined ? path : [...path, first];
  if (first === 'exec' && (handler.exec?.command ?? []).length === 0) faults.required([...at, 'command']);
  if (first === 'httpGet' && handler.httpGet) validateHttpGet(handler.httpGet, at, faults);
  if (first === 'tcpSocket' && handler.tcpSocket) {
    validatePortReference(handler.tcpSocket.port, [...at, 'port'], faults);
  }
  if (first === 'grpc' && handler.grpc) validatePortReference(handler.grpc.port, [...at, 'port'], faults);
  if (first === 'sleep' && handler.sleep) {
    const { seconds } = handler.sleep;
    if (seconds < 0 || seconds > gracePeriod) {
      faults.invalid(
        [...at, 'seconds'],
        seconds,
        `must be between 0 and terminationGracePeriodSeconds (${gracePeriod})`,
      );
    }
  }
}

function validateHttpGet(action: HTTPGetAction, path: FieldPath, faults: Faults): void {
  if (!action.path) faults.required([...path, 'path']);
  validatePortReference(action.port, [...path, 'port'], faults);
  faults.oneOf([...path, 'scheme'], action.scheme, ['HTTP', 'HTTPS']);
  for (const [index, header] of (action.httpHeaders ?? []).entries()) {
    faults.check([...path, 'httpHeaders', index, 'name'], header.name, headerName);
  }
}
