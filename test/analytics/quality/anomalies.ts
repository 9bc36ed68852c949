/** Anomalies in generated readings: each episode once, with the expected value. */

import t from 'tap'
import { absencesOf } from '../../../analytics/findings/from-reliability.ts'
import { qualityAnomalies } from '../../../analytics/findings/quality-anomalies.ts'
import { checkQuality } from '../../../analytics/quality/quality.ts'
import { qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { autoregressive, dayMs, minuteMs, uniform } from '../series.ts'

const stepMs = 5 * minuteMs
const perDay = dayMs / stepMs
const startMs = Date.UTC(2026, 0, 1)
const timesMs = Float64Array.from({ length: 30 * perDay }, (_, place) => startMs + place * stepMs)
const at = (place: number) => startMs + place * stepMs

function healthy(): Float64Array {
  return autoregressive(timesMs.length, 0, 5).map((noise, place) => {
    return Math.round(150 + 50 * Math.sin((2 * Math.PI * place) / perDay) + noise) / 10
  })
}

function found(values: Float64Array) {
  const { stretches } = cadenceOf(timesMs, null)
  const { marks, limits } = checkQuality(timesMs, values, qualityLimits('temperature', 0), stretches)
  return qualityAnomalies({ name: 'temperature', timesMs, values, marks, limits }, stretches)
}

function boundsOf(anomaly: ReturnType<typeof found>[number] | undefined): [number, number] {
  return (anomaly?.expected ?? [Number.NaN, Number.NaN]) as [number, number]
}

t.test('a wild reading is one anomaly, by the most specific test', async t => {
  t.strictSame(found(healthy()), [], 'none')
  const values = healthy()
  values[1000] = 45
  values[2000] = 85
  values.fill(-40, 3000, 3006)
  const all = found(values)
  t.equal(all.length, 3)
  const range = { code: 'out_of_range', metric: 'temperature', expected: [-30, 50] }
  t.match(all[0], { ...range, startMs: at(2000), endMs: at(2000), value: 85, count: 1 })
  t.match(all[1], { ...range, startMs: at(3000), endMs: at(3005), value: -40, count: 6 })
  t.match(all[2], { code: 'spike', startMs: at(999), endMs: at(1001), value: 45, count: 3 })
  const mean = ((values[999] as number) + (values[1001] as number)) / 2
  const [low, high] = boundsOf(all[2])
  t.ok(Math.abs((low + high) / 2 - mean) < 1e-9 && high - low >= 6, 'about its neighbours, at least 3 °C off')
})

t.test('a jump has the value expected from the previous one, and a flat line its value', async t => {
  const values = healthy().map((value, place) => (place < 4000 ? value : value + 20))
  values.fill(12.3, 6000, 6000 + perDay)
  const all = found(values)
  const [jump] = all
  t.equal(all.map(({ code }) => code).join(), 'jump,jump,jump,flat_line', 'a flat line has two ends')
  t.match(jump, { code: 'jump', startMs: at(3999), endMs: at(4000), value: values[4000], count: 2 })
  const [low, high] = boundsOf(jump)
  t.ok(low < (values[3999] as number) && high > (values[3999] as number) && high < (values[4000] as number))
  t.match(all[3], { startMs: at(6000), value: 12.3, expected: null, count: perDay })
})

t.test('a jump that is suspect before it alone is reported once, with the value after it', async t => {
  const values = healthy()
  const before = values[3999] as number
  for (const [place, change] of [0, 0, 0, 6.2, 7.5, 7.5].entries()) values[4000 + place] = before + change
  const [jump, ...others] = found(values).filter(({ startMs }) => startMs < at(4005))
  t.strictSame(others, [])
  t.match(jump, { code: 'jump', startMs: at(4002), valueMs: at(4003), value: before + 6.2 })
  t.ok(boundsOf(jump)[1] < before + 6.2)
})

/** Adds twenty changes of one to four readings, some of them missing. */
function disturbed(random: () => number): Float64Array {
  const values = healthy().map(value => value + 20)
  for (let count = 0; count < 20; count++) {
    const from = Math.floor(random() * (values.length - 4))
    const size = 30 * (random() - 0.5)
    const part = values.subarray(from, from + 1 + Math.floor(random() * 4))
    part.set(part.map(value => (random() < 0.1 ? Number.NaN : Math.round(10 * (value + size)) / 10)))
  }
  return values
}

t.test('the value of a spike or a jump differs from the expected one, which is within the range', async t => {
  const random = uniform(8)
  const anomalies = Array.from({ length: 20 }, () => found(disturbed(random))).flat()
  const neighbours = anomalies.filter(({ code }) => code === 'spike' || code === 'jump')
  t.ok(neighbours.length > 200, `${neighbours.length} of them`)
  const wrong = neighbours.filter(anomaly => {
    const [low, high] = boundsOf(anomaly)
    const value = anomaly.value as number
    return low < -30 || high > 50 || (value >= low && value <= high)
  })
  t.strictSame(wrong, [])
})

t.test('an anomaly that lasts to the end has no end', async t => {
  const values = healthy()
  values.fill(60, values.length - 12)
  t.match(found(values), [{ code: 'out_of_range', startMs: at(values.length - 12), endMs: null, count: 12 }])
  values.fill(20.1, values.length - 2 * perDay)
  t.match(found(values).at(-1), { code: 'flat_line', endMs: null, value: 20.1 })
})

t.test('a metric is missing only while its device reports', async t => {
  const cadence = cadenceOf(timesMs, null)
  const missing = (from: number, to: number) => timesMs.filter((_, place) => place < from || place >= to)
  const absences = (own: Float64Array, kind: 'gauge' | 'state' = 'gauge', device = timesMs) =>
    absencesOf({ name: 'co2', kind, timesMs: own }, cadence, device)
  t.strictSame(absences(missing(3000, 3036)), [{ startMs: at(2999), endMs: at(3036) }], 'three hours')
  t.strictSame(absences(missing(3000, 3010)), [], 'fifty minutes')
  t.strictSame(absences(missing(8000, timesMs.length)), [{ startMs: at(7999), endMs: null }], 'up to now')
  t.strictSame(absences(missing(3000, 3036), 'state'), [], 'a state may be sent on change alone')
  t.strictSame(absences(missing(3000, 3036), 'gauge', missing(3000, 3036)), [], 'the device was silent')
  t.strictSame(absences(missing(5, 3036)), [], 'it was hardly there before')
})
