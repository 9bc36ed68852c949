/**
 * Charge by voltage, of a cell under a light load at 20 °C. The curves are read off the discharge curves of the named
 * data sheets, at the charges in `charges`, and accurate to about 2 % of the voltage.
 */

export const cellTypes = ['alkaline', 'li-ion', 'lifepo4', 'li-primary', 'coin', 'nimh'] as const
export type CellType = (typeof cellTypes)[number]

/** The unit is percent. */
const charges = [100, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0]

/** Volts of one cell, strictly falling. */
const curves: Readonly<Record<CellType, readonly number[]>> = {
  // Energizer E91.
  alkaline: [1.6, 1.48, 1.42, 1.37, 1.33, 1.29, 1.26, 1.22, 1.17, 1.14, 1.1, 1.02, 0.9],
  // Panasonic NCR18650B.
  'li-ion': [4.2, 4.06, 3.98, 3.92, 3.87, 3.82, 3.79, 3.77, 3.74, 3.71, 3.68, 3.45, 3],
  // A123 ANR26650.
  lifepo4: [3.4, 3.34, 3.33, 3.31, 3.3, 3.28, 3.26, 3.24, 3.2, 3.15, 3.05, 2.9, 2.5],
  // Li-SOCl2, Saft LS14500. The plateau is flat. Two of its points differ by less than measurable, so that the curve
  // has an inverse.
  'li-primary': [3.67, 3.651, 3.649, 3.64, 3.63, 3.62, 3.6, 3.58, 3.55, 3.52, 3.45, 3.2, 2],
  // CR2032, Energizer.
  coin: [3.05, 3, 2.97, 2.95, 2.93, 2.91, 2.89, 2.86, 2.8, 2.75, 2.65, 2.45, 2],
  // Eneloop.
  nimh: [1.4, 1.32, 1.29, 1.27, 1.26, 1.25, 1.24, 1.23, 1.2, 1.18, 1.15, 1.1, 0.9],
}

/** Deviation of a good cell's voltage from its curve, as a share. */
export const curveError = 0.02

export function fullVoltage(type: CellType): number {
  return curves[type][0] as number
}

/** Charge in percent, interpolated linearly between the points and clipped beyond them. */
export function chargeOf(type: CellType, cellVolts: number): number {
  const volts = curves[type]
  const below = volts.findIndex(point => point <= cellVolts)
  if (below === 0) return 100
  if (below < 0) return 0
  return between(cellVolts, below, volts, charges)
}

/** Voltage of one cell; the inverse of `chargeOf`. */
export function voltageOf(type: CellType, charge: number): number {
  const below = charges.findIndex(point => point <= charge)
  if (below <= 0) return (below === 0 ? curves[type][0] : curves[type].at(-1)) as number
  return between(charge, below, charges, curves[type])
}

/** `below` is the index of the first entry of the falling `from` that is not above the value. */
function between(value: number, below: number, from: readonly number[], to: readonly number[]): number {
  const [upper, lower] = [from[below - 1] as number, from[below] as number]
  const share = (value - lower) / (upper - lower)
  return (to[below] as number) + share * ((to[below - 1] as number) - (to[below] as number))
}
