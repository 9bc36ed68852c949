/** `changes`: permanent changes of the level of each gauge. */

import { changeDaysMin, changePoints, dailyLevels } from '../../analytics/changes/change-points.ts'
import { reasons } from '../../analytics/reasons.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { verdictOf } from '../stats/verdict.ts'
import type { ChangesQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { gaugesText, hourMs, localHoursOf, readGaugeHours } from './gauge-hours.ts'

const hoursPerDay = 24

/** The last local days, without the running one. */
export async function answerChanges(query: ChangesQuery, context: TaskContext): Promise<string> {
  const { nowMs } = query
  const days = Math.ceil(query.days)
  const { local } = context
  const today = local.day(local.text(nowMs * 1000).slice(0, 10))
  const endMs = Math.floor((today?.startUs ?? nowMs * 1000) / 1000 / hourMs) * hourMs
  const grid = { startMs: endMs - days * hoursPerDay * hourMs, hours: days * hoursPerDay }
  const hours = await readGaugeHours(query, grid, context)
  const localHours = localHoursOf(grid, local)
  // Taken from the middle of the day: its ends are an hour off where the clocks have changed since.
  const dateOf = (day: number) => local.text((grid.startMs + (day + 0.5) * hoursPerDay * hourMs) * 1000).slice(0, 10)
  return gaugesText({ ...query, local }, hours, hourly => {
    const levels = dailyLevels(hourly, localHours)
    const found = levels.days.length
    const lack = found < changeDaysMin ? { reason: reasons.fewLevels, needed: changeDaysMin, found } : null
    const verdict = verdictOf(momentsOf(hourly), lack)
    const changes = verdict.status === 'ok' ? changePoints(levels) : []
    return {
      ...verdict,
      changes: changes.map(({ day, before, after, statistic, daysBefore, daysAfter, perDay }) => ({
        date: dateOf(day),
        before,
        after,
        shift: after - before,
        per_day: perDay,
        statistic,
        days_before: daysBefore,
        days_after: daysAfter,
      })),
    }
  })
}
