/** A number as Go's shortest `g` form has it: 0.005, 999999, 1e+06, 1.2345678e+07. */
export function numberText(value: number): string {
  // Between these two, and only there, it is what JavaScript writes.
  if (value >= 1e-4 && value < 1e6) return `${value}`;
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return `${value}`;
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
