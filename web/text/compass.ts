/** Directions as people read them. */

const points = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
const sectorDegrees = 360 / points.length

/** The points of the compass, clockwise from north. */
export const compassPoints: readonly string[] = points

/** `WSW`, of the nearest of sixteen points. */
export function compassPoint(degrees: number): string {
  return points[Math.round(degrees / sectorDegrees) % points.length] ?? ''
}

/** `WSW 243°`; what rounds to a whole turn is north. */
export function directionText(degrees: number, decimals = 0): string {
  const rounded = Number(degrees.toFixed(decimals)) % 360
  return `${compassPoint(degrees)} ${rounded.toFixed(decimals)}°`
}
