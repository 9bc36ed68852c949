/** Wrong clocks: a file by which the harness sets them, and what the clock of a service said, by its own log. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Attempt } from './ledger.ts'

/** The file has the whole seconds by which the clocks of all processes that read it are ahead: empty or missing for none. */
export function clockFileMs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) * 1000
  } catch {
    return 0
  }
}

/** At one moment for all of them. */
export function setClockFile(path: string, aheadSeconds: number): void {
  writeFileSync(`${path}.new`, String(aheadSeconds))
  renameSync(`${path}.new`, path)
}

export interface ClockPeriod {
  fromMs: number
  offsetMs: number
}

/**
 * The periods of one process, whose clock was off by so much from its start on. The harness makes it step by whole seconds, which
 * the process measures to some milliseconds only.
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

/** Where the clock may have been for a stamp of this time: it follows a step within a second. */
export function offsetsAt(periods: readonly ClockPeriod[], startMs: number, endMs: number): number[] {
  const followMs = 1000
  return periods.flatMap(({ fromMs, offsetMs }, index) => {
    const toMs = periods[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    return fromMs <= endMs && toMs + followMs >= startMs ? [offsetMs] : []
  })
}

/** The period in which all of it lies; undefined across a step. */
export function periodOf(periods: readonly ClockPeriod[], startMs: number, endMs: number): number | undefined {
  const slackMs = 5
  const index = periods.findLastIndex(({ fromMs }) => fromMs + slackMs <= startMs)
  const toMs = periods[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
  return index !== -1 && endMs + slackMs <= toMs ? index : undefined
}

/**
 * Numbers of readings that may be stamped so far ahead that the public API shows them on a later day only than that on which it
 * is asked: an hour is enough shortly before midnight.
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
