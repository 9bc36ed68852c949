/** The records of the real stations, moved in time. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { createReplay, shiftToEnd } from '../../demo/history.ts'
import { recordedStations } from '../../demo/stations.ts'

const minuteMs = 60_000
const nowMs = Date.UTC(2027, 2, 3, 4, 5, 6, 789)

function fieldsOf(line: string, shiftMs: number): unknown[] {
  const [time = '', device, ...values] = line.split(',')
  return [Date.parse(time) - shiftMs, device, ...values.map(Number)]
}

for (const station of recordedStations) {
  t.test(`${station.name}: a round of the record ends now, line for line`, async t => {
    const shiftMs = shiftToEnd(station, nowMs)
    t.equal(shiftMs % station.stepMs, 0, 'whole minutes, or whole hours')
    const replay = createReplay(station, shiftMs)
    const lines = replay
      .lines(nowMs - replay.periodMs, nowMs)
      .trim()
      .split('\n')
    const original = readFileSync(new URL(`../../demo/data/${station.file}`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
    const found = lines.map(line => fieldsOf(line, shiftMs))
    t.strictSame(
      found,
      original.slice(1).map(line => fieldsOf(line, 0)),
    )
    const lastMs = Date.parse(lines.at(-1)?.split(',')[0] ?? '')
    t.ok(lastMs <= nowMs && lastMs > nowMs - station.stepMs, 'the last line is the newest that is not ahead of now')
  })
}

const [alamosa] = recordedStations
if (alamosa === undefined) throw new Error('there is no first station')

t.test('the record begins again at its end, and lies between two lines in between', async t => {
  const replay = createReplay(alamosa, shiftToEnd(alamosa, nowMs))
  const step = Math.floor(nowMs / minuteMs) * minuteMs
  t.strictSame(replay.at(step), replay.at(step - replay.periodMs))
  t.strictSame(replay.at(step + 7 * minuteMs), replay.at(step + 7 * minuteMs - replay.periodMs))
  const [before, after] = [replay.at(step - 3 * minuteMs), replay.at(step - 2 * minuteMs)]
  const middle = replay.at(step - 2.5 * minuteMs)
  t.ok(Math.abs(middle.pressure - (before.pressure + after.pressure) / 2) < 1e-9)
})

t.test('a gap is filled from behind its beginning up to its end, once', async t => {
  const replay = createReplay(alamosa, shiftToEnd(alamosa, nowMs))
  const whole = replay.lines(nowMs - 60 * minuteMs, nowMs + 60 * minuteMs)
  t.equal(replay.lines(nowMs - 60 * minuteMs, nowMs) + replay.lines(nowMs, nowMs + 60 * minuteMs), whole)
  t.equal(whole.trim().split('\n').length, 120)
  t.equal(replay.lines(nowMs, nowMs), '')
})
