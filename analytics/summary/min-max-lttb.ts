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
export interface Curve {
  readonly times: Float64Array
  readonly values: Float64Array
  readonly kept: Uint8Array
}

/** Marks `points` indexes of [from, to), including both ends; all when `points` is not less, else at least 2. */
export function keepShape(curve: Curve, from: number, to: number, points: number): void {
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
