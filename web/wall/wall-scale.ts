/** The scale of a chart or a map on a wall compared with a desk. */

/** Letters on a screen of this width are as large as on a desk. */
const widthAtDesk = 900
const scaleMax = 3

export function wallScale(widthPx: number): number {
  return Math.min(scaleMax, Math.max(1, widthPx / widthAtDesk))
}
