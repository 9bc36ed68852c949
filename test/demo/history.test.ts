/** The records of the real stations, repeated. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { createReplay } from '../../demo/history.ts'
import { recordedStations } from '../../demo/stations.ts'

const minuteMs = 60_000
const nowMs = Date.UTC(2027, 2, 3, 4, 5, 6, 789)

const dayMs = 1440 * minuteMs

function fieldsOf(line: string): unknown[] {
  const [time = '', device, ...values] = line.split(',')
  return [Date.parse(time), device, ...values.map(Number)]
}

for (const station of recordedStations) {
  t.test(`${station.name}: a round up to now has each line of the record, at its time of the day`, async t => {
    const replay = createReplay(station)
    t.equal(replay.periodMs % dayMs, 0, 'a round is of whole days')
    const lines = replay
      .lines(nowMs - replay.periodMs, nowMs)
      .trim()
      .split('\n')
    const original = readFileSync(new URL(`../../demo/data/${station.file}`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map(fieldsOf)
    const startMs = Number(original[0]?.[0])
    const round = (timeMs: number) => startMs + ((timeMs - startMs) % replay.periodMs)
    const found = lines.map(fieldsOf).map(([timeMs, ...rest]) => [round(Number(timeMs)), ...rest])
    t.strictSame(
      found.toSorted(([a], [b]) => Number(a) - Number(b)),
      original,
    )
    const lastMs = Date.parse(lines.at(-1)?.split(',')[0] ?? '')
    t.ok(lastMs <= nowMs && lastMs > nowMs - station.stepMs, 'the last line is the newest that is not ahead of now')
    const [, , temperature = 0, , pressure] = fieldsOf(lines.at(-1) ?? '')
    t.match(replay.at(lastMs), { temperature, pressure }, 'what is measured now continues it')
  })
}

const [alamosa] = recordedStations
if (alamosa === undefined) throw new Error('there is no first station')

t.test('the record begins again at its end, and lies between two lines in between', async t => {
  const replay = createReplay(alamosa)
  const step = Math.floor(nowMs / minuteMs) * minuteMs
  t.strictSame(replay.at(step), replay.at(step - replay.periodMs))
  t.strictSame(replay.at(step + 7 * minuteMs), replay.at(step + 7 * minuteMs - replay.periodMs))
  const [before, after] = [replay.at(step - 3 * minuteMs), replay.at(step - 2 * minuteMs)]
  const middle = replay.at(step - 2.5 * minuteMs)
  t.ok(Math.abs(middle.pressure - (before.pressure + after.pressure) / 2) < 1e-9)
})

t.test('a gap is filled from behind its beginning up to its end, once', async t => {
  const replay = createReplay(alamosa)
  const whole = replay.lines(nowMs - 60 * minuteMs, nowMs + 60 * minuteMs)
  t.equal(replay.lines(nowMs - 60 * minuteMs, nowMs) + replay.lines(nowMs, nowMs + 60 * minuteMs), whole)
  t.equal(whole.trim().split('\n').length, 120)
  t.equal(replay.lines(nowMs, nowMs), '')
})
