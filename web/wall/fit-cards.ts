/** How large the cards of a wall are, and how many of them there is room for at a time. */

export interface Fit {
  readonly fontPx: number
  readonly columns: number
  /** What is beyond comes on further pages, one after the other. */
  readonly perPage: number
}

/** Of a card and the gap between two, in its own letters; `wall.css` has the same. */
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
