import { goQuote } from '../../../model/go-text.ts';
import type { Container, IntOrString } from '../../../gen/kubernetes/types.ts';

/** The number of a port, which may be given by the name it has in the container, or as a number in words. */
export function containerPort(
  port: IntOrString,
  container: Container,
): { readonly port: number } | { readonly error: string } {
  const number = typeof port === 'number' ? port : numberOf(port, container);
  if (number === undefined) return { error: `strconv.Atoi: parsing ${goQuote(String(port))}: invalid syntax` };
  return number > 0 && number < 65_536 ? { port: number } : { error: `invalid port number: ${number}` };
}

function numberOf(port: string, container: Container): number | undefined {
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  return named ?? (/^[+-]?\d+$/.test(port) ? Number(port) : undefined);
}
