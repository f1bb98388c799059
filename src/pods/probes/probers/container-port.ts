import { goQuote } from '../../../model/go-text.ts';
import type { Container, IntOrString } from '../../../gen/kubernetes/types.ts';

/** The number of a port, which may be given by the name it has in the container. */
export function containerPort(
  port: IntOrString,
  container: Container,
): { readonly port: number } | { readonly error: string } {
  const number = typeof port === 'number' ? port : container.ports?.find(({ name }) => name === port)?.containerPort;
  if (number === undefined) return { error: `port ${goQuote(String(port))} not found` };
  return number > 0 && number < 65_536 ? { port: number } : { error: `invalid port number: ${number}` };
}
