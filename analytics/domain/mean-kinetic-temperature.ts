/**
 * Mean kinetic temperature, USP <1079>: the one temperature at which as much would decay as at those that there were,
 * T_K = (ΔH/R)/(−ln Σ w e^{−ΔH/(R T)}), T in kelvin and w the share of time. With ΔH = 83.144 kJ/mol and
 * R = 8.3144 J/(mol K), ΔH/R is 10,000 K.
 */

import type { HeldValues } from './figures.ts'

const activationK = 10_000
const zeroCelsiusK = 273.15

/** `values`: in °C. In °C; NaN where there are none. */
export function meanKineticTemperature({ values, hours }: HeldValues): number {
  let rates = 0
  let observed = 0
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    const held = hours === undefined ? 1 : (hours[at] as number)
    if (!(value > -zeroCelsiusK) || held <= 0) continue
    rates += held * Math.exp(-activationK / (value + zeroCelsiusK))
    observed += held
  }
  return activationK / -Math.log(rates / observed) - zeroCelsiusK
}
