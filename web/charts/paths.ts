/** Lines, areas and labels of small SVG charts, as texts and numbers. */

export type Scale = (value: number) => number

/** Maps an interval linearly onto another. An empty source interval maps to the middle. */
export function linearScale([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  if (from === to) return () => (start + end) / 2
  return value => start + ((value - from) / (to - from)) * (end - start)
}

export type Spot = readonly [x: number, y: number | null]

/** `M…L…`, with a new start behind each null. A spot alone becomes a dot, if the line's ends are round. */
export function linePath(spots: readonly Spot[]): string {
  let path = ''
  let isOpen = false
  for (const [place, [x, y]] of spots.entries()) {
    if (y === null) {
      isOpen = false
      continue
    }
    const isAlone = !isOpen && (spots[place + 1]?.[1] ?? null) === null
    path += `${isOpen ? 'L' : 'M'}${short(x)} ${short(y)}${isAlone ? 'h0' : ''}`
    isOpen = true
  }
  return path
}

/** The area between two lines over the same x. A gap in either line splits it. */
export function areaPath(lower: readonly Spot[], upper: readonly Spot[]): string {
  const pieces: number[][] = []
  let piece: number[] = []
  for (const place of lower.keys()) {
    if ((lower[place]?.[1] ?? null) !== null && (upper[place]?.[1] ?? null) !== null) piece.push(place)
    else if (piece.length > 0) {
      pieces.push(piece)
      piece = []
    }
  }
  if (piece.length > 0) pieces.push(piece)
  return pieces
    .map(places => {
      const there = places.map(place => upper[place] as Spot)
      const back = places.map(place => lower[place] as Spot).reverse()
      return `${linePath([...there, ...back])}Z`
    })
    .join('')
}

const short = (value: number) => String(Math.round(value * 10) / 10)

/** The smallest and the largest value, or undefined without one. */
export function extentOf(values: readonly (number | null | undefined)[]): readonly [number, number] | undefined {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value == null) continue
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  return min <= max ? [min, max] : undefined
}

/**
 * Moves labels apart, as little as that takes: each gets a place at least `height` from the next, in the order of the
 * places that they would like, within `from` and `to` as far as they fit.
 */
export function spreadLabels(wished: readonly number[], height: number, from: number, to: number): number[] {
  const order = [...wished.keys()].sort((a, b) => (wished[a] as number) - (wished[b] as number))
  const places = order.map(index => wished[index] as number)
  for (let i = 0; i < places.length; i++)
    places[i] = Math.max(places[i] as number, (places[i - 1] ?? from - height) + height)
  for (let i = places.length - 1; i >= 0; i--)
    places[i] = Math.min(places[i] as number, (places[i + 1] ?? to + height) - height)
  const result = [...wished]
  for (const [rank, index] of order.entries()) result[index] = places[rank] as number
  return result
}
