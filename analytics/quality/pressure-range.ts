/**
 * Which pressures a station may measure: the usual range of 870 to 1085 hPa is at sea level, and falls with the altitude h
 * as in the International Standard Atmosphere (ISO 2533): p(h) = p(0) · (1 − 2.25577·10⁻⁵ h)^5.25588.
 */

const seaLevel = [870, 1085] as const
/** Where people live, from the shore of the Dead Sea to La Rinconada in Peru. */
const inhabitedM = [-430, 5100] as const

/** In hPa; of a station whose altitude (metres above the sea) is unknown, from the highest to the lowest inhabited place. */
export function pressureRange(altitudeM: number | null): [number, number] {
  const [lowest, highest] = altitudeM === null ? inhabitedM : [altitudeM, altitudeM]
  return [seaLevel[0] * pressureRatio(highest), seaLevel[1] * pressureRatio(lowest)]
}

function pressureRatio(altitudeM: number): number {
  return (1 - 2.25577e-5 * altitudeM) ** 5.25588
}
