/** Wrong clocks: a file through which the harness sets them, and the offsets in the log of a service. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Attempt } from './ledger.ts'

/** The file has the seconds by which all clocks are ahead. An empty or missing file means zero. */
export function clockFileMs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) * 1000
  } catch {
    return 0
  }
}

export function setClockFile(path: string, aheadSeconds: number): void {
  writeFileSync(`${path}.new`, String(aheadSeconds))
  renameSync(`${path}.new`, path)
}

export interface ClockPeriod {
  fromMs: number
  offsetMs: number
}

/**
 * The clock periods of one process. `offsetMs` applies from its start. Later steps are whole seconds, measured by the process to
 * some milliseconds.
 */
export function periodsIn(output: string, startedMs: number, offsetMs: number): ClockPeriod[] {
  const periods: ClockPeriod[] = [{ fromMs: startedMs, offsetMs }]
  for (const line of output.split('\n')) {
    if (!line.includes('"msg":"clock stepped ')) continue
    const { time, seconds } = JSON.parse(line) as { time: number; seconds: number }
    periods.push({ fromMs: time, offsetMs: (periods.at(-1)?.offsetMs ?? 0) + Math.round(seconds) * 1000 })
  }
  return periods
}

/** The possible offsets of a stamp in this interval: the clock follows a step within a second. */
export function offsetsAt(periods: readonly ClockPeriod[], startMs: number, endMs: number): number[] {
  const followMs = 1000
  return periods.flatMap(({ fromMs, offsetMs }, index) => {
    const toMs = periods[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    return fromMs <= endMs && toMs + followMs >= startMs ? [offsetMs] : []
  })
}

/** Undefined across a step. */
export function periodOf(periods: readonly ClockPeriod[], startMs: number, endMs: number): number | undefined {
  const slackMs = 5
  const index = periods.findLastIndex(({ fromMs }) => fromMs + slackMs <= startMs)
  const toMs = periods[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
  return index !== -1 && endMs + slackMs <= toMs ? index : undefined
}

/**
 * Numbers of readings with stamps so far ahead that the public API shows them on a later day. Shortly before midnight, an hour is
 * enough.
 */
export function shownLater(
  attempts: readonly Attempt[],
  periods: readonly ClockPeriod[],
  askedMs: number,
): Set<number> {
  const dayMs = 86_400_000
  const tomorrowMs = (Math.floor(askedMs / dayMs) + 1) * dayMs
  const later = attempts.filter(({ startMs, endMs = Number.POSITIVE_INFINITY }) =>
    offsetsAt(periods, startMs, endMs).some(offsetMs => offsetMs > 0 && endMs + offsetMs >= tomorrowMs),
  )
  return new Set(later.map(({ sequence }) => sequence))
}
