/** The silences of a device: intervals between two readings that are longer than the threshold G of their time. */

import { type Cadence, type CadenceStretch, type GapThresholds, gapMsAt, StretchCursor } from './cadence.ts'

/** An ongoing silence has no `end_ms`. */
export interface Gap {
  /** The last reading before it. */
  readonly start_ms: number
  /** The first reading after it. */
  readonly end_ms: number | null
  /** Duration from reading to reading, or to the time of the query. */
  readonly duration_seconds: number
  /** Missed readings; a half rounds up. Null for an irregular device, which is never due. */
  readonly missed: number | null
  readonly ongoing: boolean
}

/** Ended gaps between ascending times, where the first follows `beforeMs` (NaN without one). Oldest first. */
export function findGaps(timesMs: Float64Array, cadence: Cadence, beforeMs = Number.NaN): Gap[] {
  const { kind, stretches } = cadence
  const gaps: Gap[] = []
  const cursor = new StretchCursor(stretches)
  let lastMs = beforeMs
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    const stretch = Number.isNaN(lastMs) ? undefined : cursor.at(lastMs)
    if (stretch !== undefined && timeMs - lastMs > gapMsAt(cadence, stretch.gapMs, lastMs)) {
      gaps.push(gapOf(lastMs, timeMs, missedOf(timeMs - lastMs, kind, stretch), false))
    }
    lastMs = timeMs
  }
  return gaps
}

/** The silence since the last reading; null while it is shorter than a gap. */
export function ongoingGap(lastMs: number, nowMs: number, cadence: Cadence): Gap | null {
  const stretch = cadence.stretches.at(-1)
  if (stretch === undefined || nowMs - lastMs <= gapMsAt(cadence, stretch.gapMs, lastMs)) return null
  return gapOf(lastMs, nowMs, missedOf(nowMs - lastMs, cadence.kind, stretch), true)
}

function missedOf(lengthMs: number, kind: Cadence['kind'], { expectedMs }: CadenceStretch): number | null {
  return kind === 'regular' ? Math.round(lengthMs / expectedMs) - 1 : null
}

function gapOf(startMs: number, endMs: number, missed: number | null, ongoing: boolean): Gap {
  return {
    start_ms: startMs,
    end_ms: ongoing ? null : endMs,
    duration_seconds: (endMs - startMs) / 1000,
    missed,
    ongoing,
  }
}

/** The part of a gap in which readings were due, [start + E, end), clipped to [fromMs, untilMs). */
export function downtimeMs(gap: Gap, { stretches }: Cadence, fromMs: number, untilMs: number): number {
  const expectedMs = new StretchCursor(stretches).at(gap.start_ms)?.expectedMs ?? 0
  return Math.max(0, Math.min(gap.end_ms ?? untilMs, untilMs) - Math.max(gap.start_ms + expectedMs, fromMs))
}

/**
 * One for each time, 0 for the first; times ascend. Without a threshold all others are 1, because readings then have no
 * neighbours.
 */
export function gapMarks(timesMs: Float64Array, gaps: GapThresholds): Uint8Array {
  const marks = new Uint8Array(timesMs.length)
  const cursor = new StretchCursor(gaps)
  for (let index = 1; index < timesMs.length; index++) {
    const beforeMs = timesMs[index - 1] as number
    if ((timesMs[index] as number) - beforeMs > (cursor.at(beforeMs)?.gapMs ?? 0)) marks[index] = 1
  }
  return marks
}
