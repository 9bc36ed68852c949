/** Selects the rows of a long list that are in the document: visible rows and some around them. */

export interface Window {
  /** The first place, and the one behind the last. */
  from: number
  to: number
}

export interface RowSizes {
  rows: number
  /** Pixels. */
  rowHeight: number
  /** Each heading has the row below it, in order. A heading may have no rows. */
  headings?: readonly number[]
  headingHeight?: number
}

/** Rows and the headings between them, each at a place of one list. */
export interface RowLayout {
  /** The number of places. */
  readonly count: number
  /** Pixels. */
  readonly height: number
  /** The heading at a place; undefined for a row. */
  headingAt(place: number): number | undefined
  /** The row at a place; for a heading, the next row. */
  rowAt(place: number): number
  placeOfRow(row: number): number
  placeOfHeading(heading: number): number
  /** Pixels from the upper edge. */
  topOf(place: number): number
  heightOf(place: number): number
  /** The place at a distance in pixels from the upper edge, extrapolated beyond both ends. */
  placeAt(top: number): number
}

export function layoutOf({ rows, rowHeight, headings = [], headingHeight = 0 }: RowSizes): RowLayout {
  const count = rows + headings.length
  const height = rows * rowHeight + headings.length * headingHeight
  const places = headings.map((row, heading) => row + heading)
  const topOf = (place: number) => {
    const above = lowerBound(places, place)
    return above * headingHeight + (place - above) * rowHeight
  }
  const headingAt = (place: number) => {
    const heading = lowerBound(places, place)
    return places[heading] === place ? heading : undefined
  }
  return {
    count,
    height,
    headingAt,
    rowAt: place => place - lowerBound(places, place),
    placeOfRow: row => row + lowerBound(headings, row + 1),
    placeOfHeading: heading => places[heading] ?? 0,
    topOf,
    heightOf: place => (headingAt(place) === undefined ? rowHeight : headingHeight),
    placeAt(top) {
      if (top < 0) return Math.floor(top / rowHeight)
      if (top >= height) return count + Math.floor((top - height) / rowHeight)
      let [low, high] = [0, count - 1]
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if (topOf(middle) <= top) low = middle
        else high = middle - 1
      }
      return low
    },
  }
}

/** The count of ascending numbers below this one. */
function lowerBound(numbers: readonly number[], number: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return low
}

/** Places beyond each edge, for the next frame of a scroll and for the next press of Tab. */
const spare = 12

/** `top`: of the list, from the upper edge of the screen; negative when it begins above. Pixels. */
export function windowOf(top: number, screenHeight: number, layout: RowLayout): Window {
  const first = layout.placeAt(-top) - spare
  const last = layout.placeAt(screenHeight - top - 1) + 1 + spare
  return { from: Math.min(Math.max(0, first), layout.count), to: Math.min(Math.max(0, last), layout.count) }
}

/** The place to which a key leads; undefined for a key that leads nowhere. */
export function rowAfterKey(key: string, row: number, rows: number, pageRows: number): number | undefined {
  const target = { ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + pageRows, PageUp: row - pageRows }[key]
  if (target !== undefined) return Math.min(Math.max(0, target), rows - 1)
  if (key === 'Home') return 0
  return key === 'End' ? rows - 1 : undefined
}
