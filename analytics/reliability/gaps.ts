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

/** Those that have ended: between ascending times, the first of which follows `beforeMs` (NaN: nothing). Oldest first. */
export function findGaps(timesMs: Float64Array, rule: GapRule, beforeMs = Number.NaN): Gap[] {
  const gaps: Gap[] = []
  let lastMs = beforeMs
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    if (timeMs - lastMs > rule.gapMs) gaps.push(gapOf(lastMs, timeMs, rule, false))
    lastMs = timeMs
  }
  return gaps
}

/** The silence since the last reading, or null while that is no gap. */
export function ongoingGap(lastMs: number, nowMs: number, rule: GapRule): Gap | null {
  return nowMs - lastMs > rule.gapMs ? gapOf(lastMs, nowMs, rule, true) : null
}

function gapOf(startMs: number, endMs: number, { expectedMs }: GapRule, ongoing: boolean): Gap {
  return {
    start_ms: startMs,
    end_ms: ongoing ? null : endMs,
    duration_seconds: (endMs - startMs) / 1000,
    missed: Math.round((endMs - startMs) / expectedMs) - 1,
    ongoing,
  }
}

/** The part of a gap in which nothing came although it was due, [start + E, end), clipped to [fromMs, untilMs). */
export function downtimeMs(gap: Gap, expectedMs: number, fromMs: number, untilMs: number): number {
  return Math.max(0, Math.min(gap.end_ms ?? untilMs, untilMs) - Math.max(gap.start_ms + expectedMs, fromMs))
}
