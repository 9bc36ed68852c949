/** Directions as people read them. */

const points = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
const sectorDegrees = 360 / points.length

/** The points of the compass, clockwise from north. */
export const compassPoints: readonly string[] = points

/** The same direction from 0° to below 360°, as devices may send −90° or 540°. */
export function withinTurn(degrees: number): number {
  const rest = degrees % 360
  // A rest just below 0 rounds to a whole turn.
  return rest < 0 ? (rest + 360) % 360 : rest
}

/** `WSW`, of the nearest of sixteen points. */
export function compassPoint(degrees: number): string {
  return points[Math.round(withinTurn(degrees) / sectorDegrees) % points.length] as string
}

/** `243°`. Angles that round to a whole turn are 0°. */
export function degreesText(degrees: number, decimals = 0): string {
  const rounded = Number(withinTurn(degrees).toFixed(decimals)) % 360
  return `${rounded.toFixed(decimals)}°`
}

/** `WSW 243°` */
export function directionText(degrees: number, decimals = 0): string {
  return `${compassPoint(degrees)} ${degreesText(degrees, decimals)}`
}
