/** On which side of a threshold a value is: of alerts, of their previews and of excursions. */

export type ThresholdSide = 'beyond' | 'between' | 'back'

/** `between`: no longer beyond the threshold, and not behind it by the hysteresis. */
export function thresholdSide(
  direction: 'above' | 'below',
  value: number,
  threshold: number,
  hysteresis: number,
): ThresholdSide {
  // Differences of decimals are not exact: the sums are those that a person would write down.
  const isBeyond = direction === 'above' ? value > threshold : value < threshold
  if (isBeyond) return 'beyond'
  const isBack = direction === 'above' ? value <= threshold - hysteresis : value >= threshold + hysteresis
  return isBack ? 'back' : 'between'
}
