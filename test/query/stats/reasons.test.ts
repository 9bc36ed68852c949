/** The table of reasons: answers give each of them and no other, and the documentation explains them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { agreementOf } from '../../../analytics/correlation/agreement.ts'
import type { Profile } from '../../../analytics/domain/profile.ts'
import { pairReasons, reasons } from '../../../analytics/reasons.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { answerChanges } from '../../../query/hours/changes-answer.ts'
import { answerDomain } from '../../../query/hours/domain-answer.ts'
import { answerForecast } from '../../../query/hours/forecast-answer.ts'
import { answerNormal } from '../../../query/hours/normal-answer.ts'
import { autoregressive } from '../../analytics/series.ts'
import { contextOf, hoursQuery, type MadeHours } from '../hours/hours-of.ts'
import { ask, every, hourMs, seriesOf } from './stats-of.ts'

const startMs = Date.UTC(2026, 0, 1)
const one = autoregressive(720, 0.9, 1)
const other = autoregressive(720, 0.9, 2)
const walk = autoregressive(720, 1, 3)
const otherWalk = autoregressive(720, 1, 4)

type Values = (timeMs: number, place: number) => number

function answerTo(hours: number, temperature: Values, humidity: Values = temperature): unknown {
  return ask({ series: seriesOf(every(hourMs, startMs, hours), { temperature, humidity }) })
}

const column = (values: Float64Array) => (_: number, place: number) => values[place] as number

const nowMs = startMs + 30 * 24 * hourMs
const newHours = contextOf({ temperature: made => (made < nowMs - 100 * hourMs ? Number.NaN : (one[0] as number)) })

async function domainOf(profile: Profile, made: MadeHours, days = 5): Promise<unknown> {
  const device = { ...hoursQuery.device, profile, expected_interval_seconds: 60 }
  return JSON.parse(await answerDomain({ ...hoursQuery, device, custom: [], days, nowMs }, contextOf(made)))
}

const readingsOf = (stepMs: number) =>
  seriesOf(every(stepMs, nowMs - 4 * 24 * hourMs, (4 * 24 * hourMs) / stepMs), {
    temperature: timeMs => Math.sin(timeMs),
  })

const answers = [
  await domainOf('weather', {}),
  await domainOf('cold_chain', { temperature: () => 5 }, 40),
  await domainOf('cold_chain', { readings: readingsOf(900_000) }),
  await domainOf('cold_chain', { readings: readingsOf(300_000) }),
  JSON.parse(await answerChanges({ ...hoursQuery, days: 100, nowMs }, newHours)),
  JSON.parse(await answerNormal({ ...hoursQuery, nowMs }, newHours)),
  JSON.parse(await answerForecast({ ...hoursQuery, nowMs }, newHours)),
  answerTo(0, () => 1),
  answerTo(5, column(one)),
  answerTo(720, () => 1),
  answerTo(720, column(one), column(other)),
  answerTo(720, (_, place) => (place < 100 || place > 600 ? (one[place] as number) : Number.NaN)),
  answerTo(720, (_, place) => (place % 9 < 5 ? (one[place] as number) : Number.NaN)),
  answerTo(480, (_, place) => place * place),
  answerTo(720, (_, place) => (place % 50 === 0 ? 21 : 20)),
  answerTo(24, column(walk), column(otherWalk)),
  ask({ series: seriesOf(every(6 * hourMs, startMs, 120), { temperature: column(one) }) }),
  answerTo(720, column(walk)),
  agreementOf(new Float64Array(0), new Float64Array(0), { startMs, stepMs: hourMs }, createLocalTime('UTC')),
]

function* reasonsIn(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    if (key === 'reason' && part !== null) yield part
    yield* reasonsIn(part)
  }
}

test('answers give each reason of the table, and no other', async t => {
  const given = new Set(answers.flatMap(answer => [...reasonsIn(answer)]))
  t.strictSame([...given].sort(), [...Object.values(reasons), ...pairReasons].sort())
})

test('the documentation explains each reason', async t => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/statistics.md'), 'utf8')
  for (const reason of [...Object.values(reasons), ...pairReasons]) t.ok(text.includes(`\`${reason}\``), reason)
})
