/** Gauges beside the five in the insights of a fleet: one statement reads each stretch from QuestDB. */

import t from 'tap'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { answerInsights } from '../../query/insights.ts'
import type { DescribedGauge, FleetKnown } from '../../query/insights-fleet.ts'
import { Insights } from '../../query/shapes/insights.ts'
import { createPgConnection, type PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { dayMs, hourMs, uniform } from '../analytics/series.ts'
import { validated } from '../support/answer-shapes.ts'
import { nothingKnown, plainEntry } from '../support/plain-device.ts'
import { startQuestdb, type TestCustomValue } from '../support/questdb.ts'

const endMs = Date.UTC(2026, 4, 20, 15)
const names = Array.from({ length: 8 }, (_, place) => `room-${place}`)
const [changed, still, drained] = [2, 4, 6]
const fleet = names.map((name, place) => {
  const battery = place === drained ? { batteryType: 'li-ion' as const } : {}
  return { ...plainEntry(name), tags: ['site:home'], ...battery }
})

const described = { decimals: 0, quality: null }
const co2: DescribedGauge = { ...described, name: 'co2', title: 'CO₂', unit: 'ppm' }
const pack: DescribedGauge = { ...described, name: 'battery_pack', title: 'Battery pack', unit: 'mV' }
const known: FleetKnown = {
  gauges: [
    { metric: co2, places: names.map((_, place) => place), series: names.map((_, place) => 100 + place) },
    { metric: pack, places: [drained], series: [7] },
  ],
  gaugesLeftOut: 0,
  silent: [{ place: 0, state: 'offline', lastMs: endMs - 2 * dayMs }],
}

function co2At(place: number, sinceMs: number, noise: number): number {
  if (place === still && sinceMs < 33 * hourMs) return 505
  const more = place === changed && sinceMs < dayMs ? 300 : 0
  return Math.round(500 + 60 * Math.sin((2 * Math.PI * sinceMs) / dayMs) + 10 * noise + more)
}

function valuesOf(place: number): TestCustomValue[] {
  const next = uniform(place + 1)
  return Array.from({ length: 16 * 24 }, (_, hour) => {
    const sinceMs = (hour + 0.5) * hourMs
    const time = new Date(endMs - sinceMs).toISOString().replace('Z', '000Z')
    return { series: 100 + place, time, value: co2At(place, sinceMs, next()) }
  })
}

const ofPack = Array.from({ length: 30 * 4 }, (_, quarter): TestCustomValue => {
  const time = new Date(endMs - (quarter + 0.5) * 6 * hourMs).toISOString().replace('Z', '000Z')
  return { series: 7, time, value: 3600 + 1.5 * quarter }
})

const all = [...names.flatMap((_, place) => valuesOf(place)), ...ofPack]
const { address, writeCustom } = await startQuestdb(t)
await writeCustom(all)
const connection = createPgConnection(address.pg, { connectTimeoutMs: 600_000, statementTimeoutMs: 600_000 })
t.teardown(() => connection.close())

async function insightsWith(more: Partial<FleetKnown> = {}) {
  const texts: string[] = []
  const read: PgConnection['read'] = (statement, signal, take) => {
    texts.push(statement.text)
    return connection.read(statement, signal, take)
  }
  const never = Number.NEGATIVE_INFINITY
  const query = { fleet: '', narrowed: true, nowUs: (endMs + 20 * 60_000) * 1000 }
  const hourSources = { rawFromUs: never, expiredBeforeUs: never }
  const context = { connection: { read }, signal: new AbortController().signal }
  const of = { ...query, hourSources, known: { ...known, ...more } }
  const text = await answerInsights(of, fleet, { ...context, local: createLocalTime('UTC') })
  return { texts, insights: validated(Insights, JSON.parse(text)) }
}

t.test('a gauge that changes as no other, one that stands still, its batteries and silence are found', async t => {
  const { texts, insights } = await insightsWith()
  const { findings, outliers, batteries_low, metrics } = insights
  const codes = findings.map(({ code, device, metric, severity }) => `${code} ${device} ${metric} ${severity}`)
  const ofGauges = [
    'battery_level room-6 battery_pack warning',
    'drift room-2 co2 warning',
    'stuck room-4 co2 critical',
  ]
  t.strictSame(codes.sort(), [ofGauges[0], ofGauges[1], 'silent room-0 null critical', ofGauges[2]])
  t.match(outliers, [{ device: 'room-2', metric: 'co2' }])
  t.ok((outliers[0]?.value ?? 0) - (outliers[0]?.median ?? 0) > 280)
  t.strictSame(batteries_low, ['room-6'])
  const [stuck, drift] = ['stuck', 'drift'].map(one => findings.find(({ code }) => code === one))
  t.match(stuck, { value: 505, since: '2026-05-19 06:30', until: null })
  t.match(drift?.text, /^CO₂ is unlike its neighbours: \d+ ppm, expected \d+ ppm$/)
  t.match(metrics, { co2: { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 } })
  t.equal(texts.filter(text => text.includes('series IN')).length, 60 + 30 + 1, 'one a stretch, not one a device')
})

t.test('gauges that are not requested are not returned', async t => {
  const quality = { flat_hours: null }
  const [ofCo2, ofBattery] = known.gauges as [FleetKnown['gauges'][number], FleetKnown['gauges'][number]]
  const { insights } = await insightsWith({
    gauges: [{ ...ofCo2, metric: { ...co2, quality } }, ofBattery],
    silent: [],
  })
  t.notOk(insights.findings.some(({ code }) => code === 'stuck' || code === 'silent'))
  const { insights: without } = await insightsWith({ ...nothingKnown, gaugesLeftOut: 5000 })
  t.match(without, { findings: [], batteries: [], outliers: [], gauges_left_out: 5000 })
  t.notOk('metrics' in without)
})
