/**
 * Fewer points for the same chart: MinMaxLTTB, applied to each stretch between gaps separately. Kept points are
 * unmodified readings: the first and last of every stretch, the global smallest and largest, flagged ones, and those
 * that give the line its shape.
 */

import type { GapThresholds } from '../reliability/cadence.ts'
import { gapMarks } from '../reliability/gaps.ts'

export interface DownsampleOptions {
  /** Ascending, as long as the values; NaN values are left out. */
  readonly timesMs: Float64Array
  readonly values: Float64Array
  /** The maximum of kept points, at least 4. */
  readonly points: number
  /** A longer time between two readings is a gap. Without a threshold gaps do not exist. */
  readonly gaps: GapThresholds
  /** Readings that must stay, such as suspect ones, have a value other than 0. */
  readonly flagged?: Uint8Array
}

export interface Downsampled {
  /** Indexes of the kept readings, ascending. */
  readonly indices: Uint32Array
  /**
   * The longest time between two kept readings of one stretch: a line broken only beyond it is unbroken between gaps.
   */
  readonly stepMaxMs: number
}

const pointsMin = 4

/**
 * Throws a RangeError for fewer than 4 points. When the flagged readings alone are too many, an even selection stays;
 * when the gaps have more sides than there is room, the shortest ones do not count as gaps.
 */
export function downsample({ timesMs, values, points, gaps, flagged }: DownsampleOptions): Downsampled {
  if (!(points >= pointsMin)) throw new RangeError(`${points} points are too few to draw a line`)
  const places = placesPresent(values)
  const curve: Curve = {
    times: pick(timesMs, places),
    values: pick(values, places),
    kept: new Uint8Array(places.length),
  }
  if (places.length <= points) {
    curve.kept.fill(1)
    return result(curve, places, stretchStarts(curve.times, gaps, places.length))
  }
  const marked = flagged === undefined ? [] : placesFlagged(flagged, places)
  const forced = new Set([...extremes(curve.values), ...evenly(marked, points - pointsMin)])
  const room = points - forced.size
  const starts = stretchStarts(curve.times, gaps, Math.floor(room / 2))
  keepShapes(curve, starts, room)
  for (const index of forced) curve.kept[index] = 1
  return result(curve, places, starts)
}

function placesPresent(values: Float64Array): Uint32Array {
  const places = new Uint32Array(values.length)
  let count = 0
  for (let index = 0; index < values.length; index++) {
    if (!Number.isNaN(values[index] as number)) places[count++] = index
  }
  return places.subarray(0, count)
}

function placesFlagged(flagged: Uint8Array, places: Uint32Array): number[] {
  const marked: number[] = []
  for (let index = 0; index < places.length; index++) {
    if (flagged[places[index] as number] !== 0) marked.push(index)
  }
  return marked
}

function pick(column: Float64Array, places: Uint32Array): Float64Array {
  const picked = new Float64Array(places.length)
  for (let index = 0; index < places.length; index++) picked[index] = column[places[index] as number] as number
  return picked
}

function extremes(values: Float64Array): number[] {
  let least = 0
  let most = 0
  for (let index = 1; index < values.length; index++) {
    if ((values[index] as number) < (values[least] as number)) least = index
    if ((values[index] as number) > (values[most] as number)) most = index
  }
  return [least, most]
}

function evenly(list: readonly number[], countMax: number): number[] {
  if (list.length <= countMax) return [...list]
  return Array.from({ length: countMax }, (_, index) => list[Math.floor((index * list.length) / countMax)] as number)
}

/** Returns the starts of stretches, ascending, the first at 0; at most `stretchesMax`, by the longest gaps. */
function stretchStarts(times: Float64Array, gaps: GapThresholds, stretchesMax: number): number[] {
  const differenceAt = (index: number) => (times[index] as number) - (times[index - 1] as number)
  const starts: number[] = []
  const marks = gaps.length === 0 ? new Uint8Array(times.length) : gapMarks(times, gaps)
  for (let index = 1; index < times.length; index++) if (marks[index] === 1) starts.push(index)
  if (starts.length < stretchesMax) return [0, ...starts]
  const longest = starts.sort((a, b) => differenceAt(b) - differenceAt(a) || a - b).slice(0, stretchesMax - 1)
  return [0, ...longest.sort((a, b) => a - b)]
}

/** Both ends of each stretch. The remaining points are divided by the stretches' lengths. */
function keepShapes(curve: Curve, starts: readonly number[], room: number): void {
  const lengths = starts.map((start, index) => (starts[index + 1] ?? curve.times.length) - start)
  const ends = lengths.reduce((sum, length) => sum + Math.min(length, 2), 0)
  const share = (room - ends) / (curve.times.length - ends)
  let inner = 0
  for (const [index, start] of starts.entries()) {
    const length = lengths[index] as number
    const innerBefore = inner
    inner += Math.max(0, length - 2)
    const points = Math.min(length, 2) + Math.floor(inner * share) - Math.floor(innerBefore * share)
    keepShape(curve, start, start + length, points)
  }
}

function result({ times, kept }: Curve, places: Uint32Array, starts: readonly number[]): Downsampled {
  const isStart = new Uint8Array(times.length)
  for (const start of starts) isStart[start] = 1
  const indices = new Uint32Array(places.length)
  let count = 0
  let stepMaxMs = 0
  let last = 0
  for (let index = 0; index < times.length; index++) {
    // Both sides of a gap are kept, so every start is found here.
    if (kept[index] !== 1) continue
    if (isStart[index] !== 1) stepMaxMs = Math.max(stepMaxMs, (times[index] as number) - (times[last] as number))
    last = index
    indices[count++] = places[index] as number
  }
  return { indices: indices.slice(0, count), stepMaxMs }
}

/**
 * MinMaxLTTB: the points that keep the shape of a line. Four times the wanted number is chosen first, as the smallest
 * and largest value of even buckets, so that no spike is lost; of those, the ones that span the largest triangles with
 * their neighbours are kept (LTTB, largest triangle three buckets).
 *
 * Sources: Steinarsson, "Downsampling Time Series for Visual Representation" (2013); Van Der Donckt and others,
 * "MinMaxLTTB: Leveraging MinMax-Preselection to Scale LTTB-Based Visualization" (2023).
 */

const preselection = 4

/** Columns without missing readings, and marks of the kept ones. */
interface Curve {
  readonly times: Float64Array
  readonly values: Float64Array
  readonly kept: Uint8Array
}

/** Marks `points` indexes of [from, to), including both ends; all when `points` is not less, else at least 2. */
function keepShape(curve: Curve, from: number, to: number, points: number): void {
  if (points >= to - from) {
    curve.kept.fill(1, from, to)
    return
  }
  keepTriangles(curve, preselect(curve.values, from, to, points), points)
}

/** Indexes of [from, to): all when they are few, else both ends and the extremes of twice as many buckets as points. */
function preselect(values: Float64Array, from: number, to: number, points: number): Uint32Array {
  if (to - from <= points * preselection) return Uint32Array.from({ length: to - from }, (_, index) => from + index)
  const buckets = (points * preselection) / 2
  const width = (to - from - 2) / buckets
  const chosen = new Uint32Array(2 * buckets + 2)
  let count = 0
  chosen[count++] = from
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = from + 1 + Math.floor(bucket * width)
    const end = from + 1 + Math.floor((bucket + 1) * width)
    let least = start
    let most = start
    for (let index = start + 1; index < end; index++) {
      if ((values[index] as number) < (values[least] as number)) least = index
      if ((values[index] as number) > (values[most] as number)) most = index
    }
    chosen[count++] = Math.min(least, most)
    if (least !== most) chosen[count++] = Math.max(least, most)
  }
  chosen[count++] = to - 1
  return chosen.subarray(0, count)
}

/**
 * LTTB over the candidates: from each bucket the point with the largest triangle to the last kept and the next mean.
 */
function keepTriangles({ times, values, kept }: Curve, candidates: Uint32Array, points: number): void {
  const last = candidates.length - 1
  let previous = candidates[0] as number
  kept[previous] = 1
  kept[candidates[last] as number] = 1
  const width = (last - 1) / (points - 2)
  for (let bucket = 0; bucket < points - 2; bucket++) {
    const start = 1 + Math.floor(bucket * width)
    const end = 1 + Math.floor((bucket + 1) * width)
    const nextEnd = bucket === points - 3 ? last + 1 : 1 + Math.floor((bucket + 2) * width)
    let sumTime = 0
    let sumValue = 0
    for (let index = end; index < nextEnd; index++) {
      const place = candidates[index] as number
      sumTime += (times[place] as number) - (times[previous] as number)
      sumValue += (values[place] as number) - (values[previous] as number)
    }
    let areaMax = -1
    let chosen = start
    for (let index = start; index < end; index++) {
      const place = candidates[index] as number
      const time = (times[place] as number) - (times[previous] as number)
      const value = (values[place] as number) - (values[previous] as number)
      // Twice the area, times the number of points in the next bucket, which is the same for all.
      const area = Math.abs(time * sumValue - value * sumTime)
      if (area <= areaMax) continue
      areaMax = area
      chosen = index
    }
    previous = candidates[chosen] as number
    kept[previous] = 1
  }
}
