/** Angles in degrees, as compass directions: 0 is north, 90 east. */

const radiansPerDegree = Math.PI / 180

/** The same direction within [0, 360); NaN for NaN and infinite numbers. */
export function normaliseDegrees(degrees: number): number {
  if (degrees > 0 && degrees < 360) return degrees
  const rest = degrees % 360
  // A rest just below 0 would round up to 360, which is 0; so is −0.
  const turned = rest < 0 ? rest + 360 : rest
  return turned === 360 || turned === 0 ? 0 : turned
}

/**
 * Sine of an angle within [0, 360). It uses the angle's distance from the nearest axis, so that mirrored directions
 * have components that cancel exactly: the mean of 350° and 10° is 0°, and 10° and 190° have none.
 */
export function sineOf(degrees: number): number {
  return degrees < 180 ? halfTurnSine(degrees) : -halfTurnSine(degrees - 180)
}

/** Computed like `sineOf`. */
export function cosineOf(degrees: number): number {
  // Each of these differences is exact.
  const half = degrees > 180 ? 360 - degrees : degrees
  return half > 90 ? -acuteCosine(180 - half) : acuteCosine(half)
}

/** The direction of a vector with these components, within [0, 360). */
export function directionOf(sine: number, cosine: number): number {
  return normaliseDegrees(Math.atan2(sine, cosine) / radiansPerDegree)
}

/** Angle from one direction to another by the shorter way, within [−180, 180]. Both directions are within [0, 360). */
export function turnBetween(from: number, to: number): number {
  const turn = to - from
  if (turn > 180) return turn - 360
  return turn < -180 ? turn + 360 : turn
}

export function toRadians(degrees: number): number {
  return degrees * radiansPerDegree
}

export function toDegrees(radians: number): number {
  return radians / radiansPerDegree
}

/** The angle is within [0, 180). */
function halfTurnSine(degrees: number): number {
  const acute = degrees > 90 ? 180 - degrees : degrees
  return acute > 45 ? Math.cos((90 - acute) * radiansPerDegree) : Math.sin(acute * radiansPerDegree)
}

/** The angle is within [0, 90]. */
function acuteCosine(degrees: number): number {
  return degrees > 45 ? Math.sin((90 - degrees) * radiansPerDegree) : Math.cos(degrees * radiansPerDegree)
}
