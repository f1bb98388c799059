export { accessModeOf, type DriverCapability } from './driver-capabilities.ts';
export type { DriverClient } from './driver-client.ts';
export { isUncertain } from './driver-errors.ts';
export type { DriverInfo, DriverNode, DriverRecord } from './driver-ports.ts';
export { CsiDrivers, type CsiDriversDeps } from './drivers.ts';
