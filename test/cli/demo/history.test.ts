/** The history of the devices: the records of the real stations, repeated, and the models. */

import t from 'tap'
import { historyCsv } from '../../../cli/demo/history.ts'
import { createReadings, createReplay } from '../../../cli/demo/readings.ts'
import { recordedStations, stations } from '../../../cli/demo/stations.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const nowMs = Date.UTC(2027, 2, 3, 4, 5, 6, 789)

const [alamosa] = recordedStations
if (alamosa === undefined) throw new Error('there is no first station')

t.test('the record repeats and is interpolated between two lines', async t => {
  const replay = createReplay(alamosa)
  const step = Math.floor(nowMs / minuteMs) * minuteMs
  t.strictSame(replay.at(step), replay.at(step - replay.periodMs))
  t.strictSame(replay.at(step + 7 * minuteMs), replay.at(step + 7 * minuteMs - replay.periodMs))
  const [before, after] = [replay.at(step - 3 * minuteMs), replay.at(step - 2 * minuteMs)]
  const middle = replay.at(step - 2.5 * minuteMs)
  t.ok(Math.abs(middle.pressure - (before.pressure + after.pressure) / 2) < 1e-9)
})

const past = (afterMs: number, untilMs: number) =>
  historyCsv(stations.map(station => ({ ...station, readings: createReadings(station, nowMs), afterMs, untilMs })))
const linesOf = (text: string) => text.trim().split('\n').slice(1)

t.test('a gap is filled from behind its beginning up to its end, once, each device at its steps', async t => {
  const whole = past(nowMs - hourMs, nowMs + hourMs)
  const parts = [past(nowMs - hourMs, nowMs), past(nowMs, nowMs + hourMs)]
  t.strictSame(
    parts.flatMap(({ text }) => linesOf(text)),
    linesOf(whole.text),
  )
  t.equal(whole.count, linesOf(whole.text).length)
  // Six devices each five minutes, and two each hour.
  t.equal(whole.count, 6 * 24 + 2 * 2)
  t.match(past(nowMs, nowMs), { count: 0 })
  const hourly = linesOf(whole.text).filter(line => line.includes(',greensboro,'))
  const replay = createReplay({ file: 'greensboro-hours.csv', fileStepMs: hourMs })
  for (const line of hourly) {
    const [time = '', , ...values] = line.split(',')
    const { temperature, humidity, pressure } = replay.at(Date.parse(time))
    t.equal(values.join(), `${temperature},${humidity},${pressure},,,,,`, 'as it was recorded')
  }
})
