export { openSystemd } from './open-systemd.ts';
