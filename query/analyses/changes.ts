/** `changes`: permanent changes of the level of each gauge. */

import { z } from 'zod'
import { changeDaysMin, changePoints, dailyLevels } from '../../analytics/changes/change-points.ts'
import { reasons } from '../../analytics/reasons.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { metrics as columns } from '../../store/tables.ts'
import { byGauge } from '../shapes/kinds.ts'
import { Count, verdict } from '../shapes/parts.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type AskedWindow, type CustomHow, defineAnalysis } from './analysis.ts'
import { verdictOf } from './answer-text.ts'
import { gaugesText, type HoursQuery, hourMs, localHoursOf, readGaugeHours } from './gauge-hours.ts'
import { checkWindow, MetricNames, windowFields, windowOf } from './parameters.ts'

const daysUsual = 100

const Change = z
  .strictObject({
    /** The first local day of the new level. */
    date: z.iso.date(),
    before: z.number(),
    after: z.number(),
    shift: z.number(),
    per_day: z
      .number()
      .nullable()
      .meta({ description: 'Daily change of a level that has been changing since that day.' }),
    statistic: z.number().positive(),
    days_before: Count.positive(),
    days_after: Count.positive(),
  })
  .meta({ id: 'LevelChange' })

const Changes = z.strictObject({ ...verdict, changes: z.array(Change) }).meta({ id: 'MetricLevelChanges' })

/** Response of `changes/<device>`. */
export const LevelChanges = byGauge(Changes)

const hoursPerDay = 24

type ChangesHow = CustomHow & AskedWindow

export const changesAnalysis = defineAnalysis({
  path: 'changes',
  title: 'level_changes',
  summary: () => 'Lasting changes of the level of each gauge',
  description: 'Local days up to yesterday. The definition is at /docs/statistics.',
  parameters: z.object({ ...windowFields(changeDaysMin, daysUsual), metrics: MetricNames }).superRefine(checkWindow),
  answer: LevelChanges.meta({ id: 'LevelChanges' }),
  always: columns,
  how: asked => windowOf(asked, daysUsual),
  pools: ['long'],
  untilMs: hourMs,
  compute: (query: ChangesHow & Asked, context) => answerChanges(query, context),
})

/** The last local days, without the running one. */
export async function answerChanges(query: HoursQuery & AskedWindow, context: TaskContext): Promise<string> {
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
