/** The silences of a device: intervals between two readings that are longer than the threshold G. */

/** A silence that has not ended has no `end_ms`. */
export interface Gap {
  /** The last reading before it. */
  readonly start_ms: number
  /** The first reading after it. */
  readonly end_ms: number | null
  /** From reading to reading, or to the moment of the question. */
  readonly duration_seconds: number
  /** Readings that did not come; a half rounds up. */
  readonly missed: number
  readonly ongoing: boolean
}

export interface GapRule {
  readonly expectedMs: number
  readonly gapMs: number
}

/** Between ascending times, none later than `nowMs`, and between the last one and `nowMs`; oldest first. */
export function findGaps(timesMs: Float64Array, nowMs: number, { expectedMs, gapMs }: GapRule): Gap[] {
  const gaps: Gap[] = []
  for (let index = 0; index < timesMs.length; index++) {
    const startMs = timesMs[index] as number
    const ongoing = index + 1 === timesMs.length
    const endMs = ongoing ? nowMs : (timesMs[index + 1] as number)
    const lengthMs = endMs - startMs
    if (lengthMs <= gapMs) continue
    gaps.push({
      start_ms: startMs,
      end_ms: ongoing ? null : endMs,
      duration_seconds: lengthMs / 1000,
      missed: Math.round(lengthMs / expectedMs) - 1,
      ongoing,
    })
  }
  return gaps
}

/** The part of a gap in which nothing came although it was due, [start + E, end), clipped to [fromMs, untilMs). */
export function downtimeMs(gap: Gap, expectedMs: number, fromMs: number, untilMs: number): number {
  return Math.max(0, Math.min(gap.end_ms ?? untilMs, untilMs) - Math.max(gap.start_ms + expectedMs, fromMs))
}
