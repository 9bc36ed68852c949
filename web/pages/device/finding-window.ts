/** The range of the charts for a finding. */

import { spanMsMax, spanMsMin, type TimeWindow } from '../../charts/range.ts'
import type { FindingTimes } from '../../text/finding-words.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** A margin before the finding and, if it has ended, after it: a quarter of its length, at least an hour. */
export function findingWindow({ sinceMs, untilMs }: FindingTimes, nowMs: number): TimeWindow {
  const endMs = Math.min(nowMs, untilMs ?? nowMs)
  const aroundMs = Math.max(hourMs, (endMs - sinceMs) / 4)
  const toMs = floorMinute(Math.min(nowMs, endMs + aroundMs))
  const fromMs = floorMinute(Math.max(sinceMs - aroundMs, toMs - spanMsMax))
  return { fromMs: Math.min(fromMs, toMs - spanMsMin), toMs }
}

const floorMinute = (atMs: number) => Math.floor(atMs / minuteMs) * minuteMs
