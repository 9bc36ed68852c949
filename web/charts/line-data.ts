/** Points as columns of a chart: a gap is a row without values, so that no line bridges it. */

export interface Columns {
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: number[]
  /** One list a line, each as long as the times; null where the line is broken, undefined where it goes on. */
  readonly lines: (number | null | undefined)[][]
}

/** Breaks the lines where two rows are more than `gapMs` apart; null: nowhere. */
export function breakAtGaps(
  timesMs: readonly number[],
  lines: readonly (readonly (number | null)[])[],
  gapMs: number | null,
): Columns {
  const broken: Columns = { timesMs: [], lines: lines.map(() => []) }
  const add = (atMs: number, read: (line: readonly (number | null)[]) => number | null) => {
    broken.timesMs.push(atMs)
    for (const [place, line] of lines.entries()) broken.lines[place]?.push(read(line))
  }
  let lastMs: number | undefined
  for (const [row, atMs] of timesMs.entries()) {
    if (gapMs !== null && lastMs !== undefined && atMs - lastMs > gapMs) add((lastMs + atMs) / 2, () => null)
    add(atMs, line => line[row] ?? null)
    lastMs = atMs
  }
  return broken
}

/** Metrics that report less often than each step have no gap between two values. */
export function usualGapMs(timesMs: readonly number[], stepMs: number): number {
  const steps = timesMs.slice(1).map((atMs, place) => atMs - (timesMs[place] as number))
  return 1.5 * Math.max(stepMs, steps.sort((a, b) => a - b)[steps.length >> 1] ?? stepMs)
}

/** Lines with times of their own over the times of all: where another one has a value, `undefined` breaks nothing. */
export function joinColumns(all: readonly Columns[]): { timesMs: number[]; lines: (number | null | undefined)[][] } {
  const timesMs = [...new Set(all.flatMap(columns => columns.timesMs))].sort((a, b) => a - b)
  const lines = all.flatMap(columns =>
    columns.lines.map(line => {
      const values = new Map(columns.timesMs.map((atMs, row) => [atMs, line[row] ?? null]))
      return timesMs.map(atMs => values.get(atMs))
    }),
  )
  return { timesMs, lines }
}

/** The places of values between two gaps, which a line alone would not show. */
export function lonePlaces(line: ArrayLike<number | null | undefined>): number[] {
  const lone: number[] = []
  // The last value, and whether there was none right before it.
  let last: { place: number; isFirst: boolean } | undefined
  for (let place = 0; place < line.length; place++) {
    const value = line[place]
    if (value === undefined) continue
    if (value === null) {
      if (last?.isFirst) lone.push(last.place)
      last = undefined
    } else last = { place, isFirst: last === undefined }
  }
  if (last?.isFirst) lone.push(last.place)
  return lone
}

/** The value nearest to a moment; null where that is further away than `reachMs`. */
export function valueAt(
  { timesMs, values }: { readonly timesMs: readonly number[]; readonly values: readonly (number | null)[] },
  atMs: number,
  reachMs: number,
): number | null {
  const place = nearestPlace(timesMs, atMs)
  if (place === undefined || Math.abs((timesMs[place] as number) - atMs) > reachMs) return null
  return values[place] ?? null
}

/** The place of the time nearest to a moment, in an ascending list; undefined for an empty one. */
export function nearestPlace(timesMs: readonly number[], atMs: number): number | undefined {
  let [from, to] = [0, timesMs.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((timesMs[middle] as number) < atMs) from = middle + 1
    else to = middle
  }
  const [before, after] = [timesMs[from - 1], timesMs[from]]
  if (before === undefined) return after === undefined ? undefined : from
  if (after === undefined) return from - 1
  return atMs - before <= after - atMs ? from - 1 : from
}
