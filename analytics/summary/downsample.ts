/**
 * Fewer points for the same chart: MinMaxLTTB, applied to each stretch between gaps separately. Kept points are
 * unmodified readings: the first and last of every stretch, the global smallest and largest, flagged ones, and those
 * that give the line its shape.
 */

import type { GapThresholds } from '../reliability/cadence.ts'
import { gapMarks } from '../reliability/gap-marks.ts'
import { type Curve, keepShape } from './min-max-lttb.ts'

export interface DownsampleOptions {
  /** Ascending, as long as the values; NaN values are left out. */
  readonly timesMs: Float64Array
  readonly values: Float64Array
  /** The maximum of kept points, at least 4. */
  readonly points: number
  /** A longer time between two readings is a gap. Without a threshold gaps do not exist. */
  readonly gaps: GapThresholds
  /** Not 0 for readings that must stay, such as suspect ones. */
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

/** Where stretches begin, ascending, the first at 0; at most `stretchesMax`, by the longest gaps. */
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
