/** One device's local day, asked of a real QuestDB. */

import t from 'tap'
import type { Answer } from '../../query/cache/body.ts'
import { DayReadings } from '../../query/shapes/day.ts'
import { validated } from '../support/answer-shapes.ts'
import { openGate } from '../support/pg-gate.ts'
import { startQuestdb, type TestReading } from '../support/questdb.ts'
import { bodyIn, jsonIn, makeDevice, queryAt, stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const { pg } = questdb.address

/** For all tests: each sets its clock. */
const gate = await openGate(t, pg)
const query = queryAt(t, gate.address, '2025-07-05T00:00:00Z')

function dayIn(answer: Answer): DayReadings {
  return validated(DayReadings, jsonIn(answer))
}

function at(symbol: string, times: readonly string[]): TestReading[] {
  return times.map((time, i) => ({ symbol, time, temperature: i, humidity: i + 10, pressure: i + 1000 }))
}

t.test('a day holds its readings as three series, from local midnight to local midnight', async t => {
  const device = makeDevice('plain')
  const inside = ['2025-07-01T22:00:00.000000Z', '2025-07-02T10:00:30.500000Z', '2025-07-02T21:59:59.999999Z']
  await questdb.write(at(device.symbol, ['2025-07-01T21:59:59.999999Z', ...inside, '2025-07-02T22:00:00.000000Z']))
  await questdb.write(at(makeDevice('neighbour').symbol, inside))
  query.clock.time = '2025-07-05T00:00:00Z'
  const answer = await query.day(device, '2025-07-02', stays())
  const times = ['00:00', '12:00', '23:59']
  const points = (...values: number[]) => values.map((v, at) => ({ d: `2025-07-02 ${times[at]}`, v }))
  t.strictSame(dayIn(answer), {
    temperature: points(1, 2, 3),
    humidity: points(11, 12, 13),
    pressure: points(1001, 1002, 1003),
  })
  t.equal(Object.keys(dayIn(answer)).join(), 'temperature,humidity,pressure')
})

t.test('a date that is none is refused', async t => {
  query.clock.time = '2025-07-05T00:00:00Z'
  for (const date of ['2026-02-30', '2026-13-01', 'today', '2026-1-1', '']) {
    t.strictSame(query.day(makeDevice('any'), date, stays()), { ok: false, code: 'DATE_INVALID' }, date)
  }
})

t.test('a day in the future is empty and not asked for, one without data is empty too', async t => {
  const before = gate.statements()
  query.clock.time = '2025-07-05T21:54:00Z'
  const empty = { temperature: [], humidity: [], pressure: [] }
  const device = makeDevice('none')
  for (const date of ['2025-07-06', '2025-07-07', '9999-12-31', '1969-07-20', '0000-01-01']) {
    t.strictSame(dayIn(await query.day(device, date, stays())), empty, date)
  }
  t.equal(gate.statements() - before, 0)
  t.strictSame(dayIn(await query.day(device, '2025-07-01', stays())), empty)
  query.clock.advance(2 * 60_000)
  t.strictSame(dayIn(await query.day(device, '2025-07-06', stays())), empty, 'a device’s clock may be ahead by so much')
  t.equal(gate.statements() - before, 2)
})

t.test('a day is read again when the device got new readings, and only then', async t => {
  const before = gate.statements()
  const device = makeDevice('fresh')
  query.clock.time = '2025-08-01T12:00:00Z'
  const ask = () => query.day(device, '2025-08-01', stays())
  const first = await ask()
  t.equal(bodyIn(await ask()), bodyIn(first))
  query.clock.advance(3_600_000)
  t.notOk(ask() instanceof Promise, 'it stays right however old it is')
  t.equal(gate.statements() - before, 1)
  await questdb.write(at(device.symbol, ['2025-08-01T11:00:00Z']))
  query.revisions.set(device.number, 1)
  t.match(dayIn(await ask()), { temperature: [{ d: '2025-08-01 13:00', v: 0 }] })
  t.equal(gate.statements() - before, 2)
})

t.test('today may be kept for some seconds, a day that is over for longer', async t => {
  const device = makeDevice('ages')
  query.clock.time = '2025-08-02T12:00:00Z'
  const age = async (date: string) => {
    const answer = await query.day(device, date, stays())
    return answer.ok ? answer.maxAgeSeconds : undefined
  }
  t.strictSame([await age('2025-08-02'), await age('2025-08-01')], [5, 60])
})

t.test('a day that is larger than any answer is refused, and that is remembered', async t => {
  const before = gate.statements()
  const device = makeDevice('dense')
  const start = Date.parse('2025-08-04T10:00:00Z')
  const times = Array.from({ length: 200 }, (_, i) => new Date(start + i).toISOString())
  await questdb.write(at(device.symbol, times))
  for (const latestBytesMax of [2000, 10_000]) {
    const query = queryAt(t, gate.address, '2025-08-04T12:00:00Z', { limits: { latestBytesMax } })
    t.strictSame(await query.day(device, '2025-08-04', stays()), { ok: false, code: 'TOO_LARGE' })
    t.strictSame(query.day(device, '2025-08-04', stays()), { ok: false, code: 'TOO_LARGE' })
  }
  t.equal(gate.statements() - before, 2)
})
