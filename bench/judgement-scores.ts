/** Scores of published benchmarks: of anomaly windows, of change points and of forecasts. */

export interface Window {
  readonly startMs: number
  readonly endMs: number
}

export interface AnomalyScore {
  readonly hits: number
  readonly misses: number
  readonly falseAlarms: number
  /** The numerator of `normalisedScore`. */
  readonly raw: number
  readonly windows: number
}

const falseWeight = 0.11
/** A false alarm counts in full from this many window lengths after a window. */
const tailLengths = 3

/**
 * Scores detections at ascending times by the standard profile of the Numenta benchmark (Lavin and Ahmad 2015). The
 * first one within a window counts by its earliness, a miss −1, a false alarm up to −0.11, less shortly after a
 * window.
 */
export function anomalyScore(detectionsMs: readonly number[], windows: readonly Window[]): AnomalyScore {
  const holds = ({ startMs, endMs }: Window, timeMs: number) => timeMs >= startMs && timeMs <= endMs
  const firsts = windows.map(window => ({ window, timeMs: detectionsMs.find(timeMs => holds(window, timeMs)) }))
  const hits = firsts.flatMap(({ window: { startMs, endMs }, timeMs }) => {
    return timeMs === undefined ? [] : [sigmoid((timeMs - endMs) / Math.max(1, endMs - startMs)) / sigmoid(-1)]
  })
  const alarms = detectionsMs.filter(timeMs => !windows.some(window => holds(window, timeMs)))
  const penalties = alarms.map(timeMs => {
    const before = windows.findLast(({ endMs }) => endMs < timeMs)
    if (before === undefined) return -1
    const behind = (timeMs - before.endMs) / Math.max(1, before.endMs - before.startMs)
    return behind > tailLengths ? -1 : sigmoid(behind)
  })
  const misses = windows.length - hits.length
  const raw = sumOf(hits) - misses + falseWeight * sumOf(penalties)
  return { hits: hits.length, misses, falseAlarms: alarms.length, raw, windows: windows.length }
}

/** 0 for no detection at all, 100 for all at the start of their windows without a false alarm. */
export function normalisedScore(scores: readonly AnomalyScore[]): number {
  const windows = sumOf(scores.map(one => one.windows))
  return (100 * (sumOf(scores.map(({ raw }) => raw)) + windows)) / (2 * windows)
}

function sigmoid(position: number): number {
  return 2 / (1 + Math.exp(5 * position)) - 1
}

/** A change may be off by this many places. */
const margin = 5

export interface ChangeScore {
  readonly cover: number
  readonly f1: number
}

/**
 * Scores change points, each the first of a segment, against several people's marks (van den Burg and Williams 2020).
 */
export function changeScore(
  found: readonly number[],
  annotated: readonly (readonly number[])[],
  length: number,
): ChangeScore {
  const all = [...new Set([0, ...annotated.flat()])]
  const detected = [...new Set([0, ...found])]
  const precision = matches(all, detected) / detected.length
  const recalls = annotated.map(one => {
    const truth = [...new Set([0, ...one])]
    return matches(truth, detected) / truth.length
  })
  const recall = sumOf(recalls) / recalls.length
  const cover =
    sumOf(annotated.map(one => coverOf(segmentsOf(one, length), segmentsOf(found, length)))) / annotated.length
  return { cover, f1: (2 * precision * recall) / (precision + recall) }
}

/** The number of true points with a found one within the margin. Each found point counts once. */
function matches(truth: readonly number[], found: readonly number[]): number {
  const left = new Set(found)
  let count = 0
  for (const place of truth) {
    const near = [...left].filter(one => Math.abs(one - place) <= margin)
    const best = near.sort((a, b) => Math.abs(a - place) - Math.abs(b - place))[0]
    if (best === undefined) continue
    left.delete(best)
    count++
  }
  return count
}

type Segment = readonly [from: number, to: number]

function segmentsOf(changes: readonly number[], length: number): Segment[] {
  const bounds = [...new Set([0, ...changes, length])].sort((a, b) => a - b)
  return bounds.slice(1).map((to, place): Segment => [bounds[place] as number, to])
}

/** Each true segment by the found one that shares the most with it. */
function coverOf(truth: readonly Segment[], found: readonly Segment[]): number {
  const length = truth.at(-1)?.[1] ?? 1
  return sumOf(
    truth.map(([from, to]) => {
      const shares = found.map(([begin, end]) => {
        const common = Math.max(0, Math.min(to, end) - Math.max(from, begin))
        return common / (to - from + end - begin - common)
      })
      return ((to - from) / length) * Math.max(...shares)
    }),
  )
}

export interface Interval {
  readonly median: ArrayLike<number>
  readonly low: ArrayLike<number>
  readonly high: ArrayLike<number>
}

export interface ForecastScore {
  readonly mase: number
  readonly msis: number
  readonly coverage: number
}

const alpha = 0.05

/**
 * Scores a 95 % interval as in the M4 competition (Makridakis and others 2020). `period` belongs to the naive forecast
 * in `known`.
 */
export function forecastScore(
  { median, low, high }: Interval,
  came: Float64Array,
  known: Float64Array,
  period: number,
): ForecastScore {
  const scale = meanOf(known.subarray(period).map((value, at) => Math.abs(value - (known[at] as number))))
  const outside = (value: number, hour: number) => {
    return Math.max(0, (low[hour] as number) - value) + Math.max(0, value - (high[hour] as number))
  }
  const widths = came.map((value, hour) => {
    return (high[hour] as number) - (low[hour] as number) + (2 / alpha) * outside(value, hour)
  })
  return {
    mase: meanOf(came.map((value, hour) => Math.abs(value - (median[hour] as number)))) / scale,
    msis: meanOf(widths) / scale,
    coverage: meanOf(came.map((value, hour) => Number(outside(value, hour) === 0))),
  }
}

export function meanOf(values: ArrayLike<number>): number {
  return sumOf(Array.from(values)) / values.length
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
