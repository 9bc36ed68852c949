/** `unusual`: compares each gauge with its own previous four weeks, and gives the expected band. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import { quantumOf } from '../../analytics/quality/sensor-limits.ts'
import { reasons } from '../../analytics/reasons.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { type UnusualEpisode, unusualDaysMin, unusualOf } from '../../analytics/unusual/unusual.ts'
import { metrics as columns } from '../../store/tables.ts'
import { units } from '../series.ts'
import { UnusualValues } from '../shapes/unusual.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type CustomHow, defineAnalysis } from './analysis.ts'
import { verdictOf } from './answer-text.ts'
import { gaugesText, type HoursQuery, hourMs, localHoursOf, readGaugeHours, startsOf } from './gauge-hours.ts'
import { MomentParameters, momentHow } from './parameters.ts'

export const unusualAnalysis = defineAnalysis({
  path: 'unusual',
  title: 'unusual_values',
  summary: () => 'Whether each gauge behaves as in its own four weeks before, and its usual band',
  parameters: MomentParameters,
  answer: UnusualValues.meta({ id: 'UnusualValues' }),
  always: columns,
  how: momentHow,
  pools: ['light'],
  untilMs: hourMs,
  compute: (query: CustomHow & Asked, context) => answerUnusual(query, context),
})

const dayHours = 24
/** The reference of four weeks is itself compared with the four weeks before it. */
const historyHours = 56 * dayHours
const judgedHours = 14 * dayHours
const shownHours = 2 * dayHours

/** Ends with the last full hour. */
async function answerUnusual(query: HoursQuery, context: TaskContext): Promise<string> {
  const { local } = context
  const endMs = Math.floor(query.nowMs / hourMs) * hourMs
  const grid = { startMs: endMs - historyHours * hourMs, hours: historyHours }
  const hours = await readGaugeHours(query, grid, context)
  const localHours = localHoursOf(grid, local)
  const starts = startsOf(grid)
  const textOf = (timeMs: number) => local.text(timeMs * 1000)
  const unitOf = (name: string) => {
    return (
      hours.custom.find(one => one.name === name)?.unit ?? (units as Readonly<Record<string, string>>)[name] ?? null
    )
  }
  return gaugesText({ ...query, local }, hours, (hourly, name) => {
    const known = hourly.findIndex(value => !Number.isNaN(value))
    const found = known < 0 ? 0 : (hourly.length - known) / dayHours
    const lack = found < unusualDaysMin ? { reason: reasons.shortHistory, needed: unusualDaysMin, found } : null
    const isBattery = batteryMetricOf(name, unitOf(name)) !== undefined
    const verdict = verdictOf(momentsOf(hourly), lack)
    if (verdict.status !== 'ok' || isBattery)
      return { ...verdict, ...nowOf(undefined, textOf, grid.startMs), hours: [] }
    const input = { hourly, localHours, quantum: quantumOf(hourly) }
    const { episodes, low, high } = unusualOf(input, historyHours - judgedHours)
    const band = Array.from({ length: shownHours }, (_, hour) => historyHours - shownHours + hour)
      .filter(place => !Number.isNaN(low[place]))
      .map(place => {
        const t = starts[place] as number
        return { t, low: low[place], high: high[place], d: textOf(t) }
      })
    return {
      ...verdict,
      ...nowOf(
        episodes.find(({ isOpen }) => isOpen),
        textOf,
        grid.startMs,
      ),
      hours: band,
    }
  })
}

function nowOf(episode: UnusualEpisode | undefined, textOf: (timeMs: number) => string, startMs: number) {
  if (episode === undefined) return { since: null, value: null, expected: null }
  const { from, value, expected } = episode
  return { since: textOf(startMs + from * hourMs), value, expected }
}
