import { json, type Handler } from '../route.ts';

interface ConfigzDeps {
  /** The effective configuration as the API writes it, without secrets. */
  readonly kubeletconfig: object;
}

/** `/configz`: with which configuration the agent runs. It does not change while it runs, so it is written once. */
export function configzHandler({ kubeletconfig }: ConfigzDeps): Handler {
  const page = json({ kubeletconfig });
  return async () => page;
}
