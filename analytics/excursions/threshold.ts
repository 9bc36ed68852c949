/** The side of a threshold on which a value is, for alerts, their previews and excursions. */

export type ThresholdSide = 'beyond' | 'between' | 'back'

/** `between`: no longer beyond the threshold, but still within the hysteresis. */
export function thresholdSide(
  direction: 'above' | 'below',
  value: number,
  threshold: number,
  hysteresis: number,
): ThresholdSide {
  // Differences of decimals are not exact: the sums are rounded as in decimal arithmetic.
  const isBeyond = direction === 'above' ? value > threshold : value < threshold
  if (isBeyond) return 'beyond'
  const isBack = direction === 'above' ? value <= threshold - hysteresis : value >= threshold + hysteresis
  return isBack ? 'back' : 'between'
}
