/** Unusual values of a gauge: their beginning, their end, and the past used. */

import { test } from 'tap'
import { unusualDaysMin, unusualOf, unusualShift } from '../../../analytics/unusual/unusual.ts'
import { autoregressive } from '../series.ts'

const days = 42
const hours = 24 * days
const localHours = Uint8Array.from({ length: hours }, (_, hour) => hour % 24)
const noise = autoregressive(hours, 0.5, 3)
const usual = Float64Array.from(noise, (value, hour) => 20 + 4 * Math.sin((2 * Math.PI * hour) / 24) + 0.3 * value)

const judged = (hourly: Float64Array, quantum = 0) => {
  return unusualOf({ hourly, localHours: localHours.subarray(0, hourly.length), quantum })
}
const shifted = (from: number, to: number, by: number) => {
  return usual.map((value, hour) => (hour >= from && hour < to ? value + by : value))
}

test('a shift is found within hours, from its beginning to its end', async t => {
  const from = 24 * 30 + 2
  const { episodes } = judged(shifted(from, from + 30, -3))
  t.equal(episodes.length, 1)
  const [episode] = episodes
  if (episode === undefined) return
  t.equal(episode.from, from)
  t.ok(episode.foundAt >= from && episode.foundAt <= from + 4, `${episode.foundAt}`)
  t.ok(episode.to >= from + 29 && episode.to <= from + 30 + 24, `${episode.to}`)
  t.notOk(episode.isOpen)
  t.equal(unusualShift(episodes, from - 1), 0)
  t.ok(unusualShift(episodes, episode.foundAt) < -1)
  t.strictSame(judged(usual).episodes, [])
})

test('an ongoing shift is open, with the shift as its deviation', async t => {
  const [episode] = judged(shifted(hours - 20, hours, 5)).episodes
  t.match(episode, { from: hours - 20, to: hours - 1, isOpen: true })
  const [low = 0, high = 0] = episode?.expected ?? []
  t.ok(Math.abs((episode?.value ?? 0) - (low + high) / 2 - 5) < 0.4)
  t.ok(high - low > 0.8 && high - low < 2.5, 'two deviations either way')
})

test('only the past counts', async t => {
  const series = shifted(24 * 30, 24 * 31, 4)
  const whole = judged(series)
  const until = judged(series.subarray(0, 24 * 33))
  t.strictSame(until.low, whole.low.subarray(0, 24 * 33))
  t.strictSame(until.episodes, whole.episodes)
})

test('judgement and band begin after 14 days', async t => {
  const early = shifted(24 * 10, 24 * 11, 8)
  t.strictSame(judged(early.subarray(0, 24 * unusualDaysMin)).episodes, [])
  const { low } = judged(usual)
  t.equal(
    low.findIndex(value => !Number.isNaN(value)),
    24 * unusualDaysMin,
  )
})

test('after two weeks a new level is usual', async t => {
  const { episodes, low, high } = judged(shifted(24 * 20, hours, 6))
  t.equal(episodes.length, 1)
  t.ok((episodes[0]?.to ?? 0) <= 24 * 35)
  const middle = ((low[hours - 1] as number) + (high[hours - 1] as number)) / 2
  t.ok(Math.abs(middle - 26 - 4 * Math.sin((-2 * Math.PI) / 24)) < 0.5, `${middle}`)
})

test('a step of the sensor is not unusual', async t => {
  const flat = new Float64Array(hours).fill(21)
  const step = flat.map((value, hour) => (hour > 24 * 30 && hour < 24 * 31 ? value + 0.1 : value))
  t.strictSame(judged(step, 0.1).episodes, [])
  t.strictSame(judged(flat).episodes, [])
  t.strictSame(judged(new Float64Array(hours).fill(Number.NaN)).episodes, [])
})
