/** The size of a wall's cards and the number that fits at a time. */

export interface Fit {
  readonly fontPx: number
  readonly columns: number
  /** Further cards follow on later pages. */
  readonly perPage: number
}

/** The size of a card and the gap in em, as in `wall.css`. */
const cardEm = { width: 19, height: 10, gap: 0.7 }
const fontPxMin = 16
const fontPxMax = 44
const fontPxStep = 2

/** The largest at which all are in view; where that is not possible, the smallest. */
export function fitCards(count: number, widthPx: number, heightPx: number): Fit {
  let fontPx = fontPxMax
  let fit = fitAt(fontPx, widthPx, heightPx)
  while (fit.perPage < count && fontPx > fontPxMin) {
    fontPx -= fontPxStep
    fit = fitAt(fontPx, widthPx, heightPx)
  }
  // A few devices share the width.
  return { ...fit, columns: Math.max(1, Math.min(fit.columns, count)) }
}

function fitAt(fontPx: number, widthPx: number, heightPx: number): Fit {
  const placesIn = (lengthPx: number, cardEmLength: number) =>
    Math.max(1, Math.floor((lengthPx / fontPx + cardEm.gap) / (cardEmLength + cardEm.gap)))
  const columns = placesIn(widthPx, cardEm.width)
  return { fontPx, columns, perPage: columns * placesIn(heightPx, cardEm.height) }
}
