/** Gauges without a usual range: flat lines by their runs. Frozen wind vanes. */

import t from 'tap'
import { episodesOf } from '../../../analytics/findings/episodes.ts'
import { frozenMarks } from '../../../analytics/findings/quality-anomalies.ts'
import { checkQuality } from '../../../analytics/quality/quality.ts'
import { flatBit, qualityLimits, stillLimits } from '../../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { autoregressive, hourMs, minuteMs } from '../series.ts'

const stepMs = 5 * minuteMs
const perDay = (24 * hourMs) / stepMs
const timesMs = Float64Array.from({ length: 30 * perDay }, (_, place) => place * stepMs)
const gaps = cadenceOf(timesMs, null).stretches
const noise = autoregressive(timesMs.length, 0.5, 11)

function lines(values: Float64Array, settings = {}) {
  const { marks, counts } = checkQuality(
    timesMs,
    values,
    stillLimits(qualityLimits('x', null, settings), settings),
    gaps,
  )
  const found = episodesOf({ timesMs, values, marks }, flatBit, gaps)
  return {
    marks,
    hours: counts.flat_hours,
    lines: found.map(({ startMs, endMs }) => [startMs / stepMs, endMs / stepMs]),
  }
}

const made = (of: (noise: number, hour: number, place: number) => number) =>
  timesMs.map((timeMs, place) => of(noise[place] as number, (timeMs / hourMs) % 24, place))
const co2 = () => made((one, hour) => Math.round(500 + 100 * Math.sin((2 * Math.PI * hour) / 24) + 5 * one))
const stuck = (values: Float64Array, from: number, count: number, value = values[from]) =>
  values.fill(value as number, from, from + count)

t.test('a gauge that stands still is flat, after three hours if it never did before', async t => {
  t.strictSame(lines(co2()).lines, [])
  t.match(lines(stuck(co2(), 4000, 60)), { hours: 3, lines: [[4000, 4059]] })
  t.strictSame(lines(stuck(co2(), 4000, 30)).lines, [], 'for two and a half')
})

t.test('a sensor at rest is not flat', async t => {
  const light = made((one, hour) => (hour < 6 || hour > 18 ? 0 : Math.round(1e4 + 1e3 * one)))
  t.strictSame(lines(light).lines, [], 'at night')
  const dark = made((one, hour) => (hour < 6 || hour > 18 ? 3 : Math.round(1e4 + 1e3 * one)))
  dark[0] = 2
  t.strictSame(lines(dark).lines, [], 'nor with an offset: other nights are as long')
  const rain = made((one, _, place) => (place > 1000 && place < 1200 ? Math.round(20 + 3 * Math.abs(one)) / 10 : 0))
  t.strictSame(lines(rain).lines, [], 'in a dry month')
})

t.test('a value that changes rarely is not flat when still', async t => {
  const setPoint = made((_, hour, place) => (place > 3000 ? 19.5 : hour < 6 ? 17 : 21))
  t.match(lines(setPoint), { hours: null, lines: [] })
  const ofTwoHours = made((_, hour, place) => (place > 7000 ? 20 : 19 + (Math.floor(hour / 2) % 6)))
  t.match(lines(ofTwoHours), { hours: null, lines: [] }, 'nor where it has changed often')
  t.match(lines(stuck(co2(), 4000, 30), { flat_hours: 2 }).lines, [[4000, 4029]], 'by its settings')
  t.match(lines(stuck(co2(), 4000, 60), { flat_hours: null }).lines, [], 'nor by them')
})

t.test('a vane is frozen if it stands still in the wind', async t => {
  const directions = made(one => Math.round(200 + 40 * one))
  const { marks, lines: found } = lines(stuck(directions, 4000, 144, 213))
  t.strictSame(found, [[4000, 4143]])
  const flat = (speed: number) => {
    const speeds = timesMs.map((_, place) => (place >= 4000 && place < 4144 ? speed : 4))
    const episodes = [{ startMs: 4000 * stepMs, endMs: 4143 * stepMs }]
    return frozenMarks({ timesMs, marks }, episodes, { speeds, calmBelow: 0.5 }).filter(mark => mark & flatBit).length
  }
  t.equal(flat(4), 144)
  t.equal(flat(0.2), 0, 'in a calm')
  t.equal(flat(Number.NaN), 0, 'an unknown value')
})
