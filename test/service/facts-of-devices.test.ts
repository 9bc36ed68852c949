/** Facts of a device for rules and statistics: how unusual its values are, and its rejected readings. */

import t, { test } from 'tap'
import { createRejections } from '../../ingest/rejections/rejections.ts'
import { createUnusualShifts } from '../../service/alert-observations.ts'
import { rejectedReadings } from '../../service/rejected-readings.ts'

const none = { status: 'ok', reason: null, lack: null, since: null, value: null, expected: null, hours: [] }
const lack = { needed: 14, found: 9 }
const young = { ...none, status: 'insufficient_data', reason: 'short_history', lack }
const low = { ...none, since: '2026-01-01 02:00', value: 16.9, expected: [18.5, 21.5] }

function shiftsOf(temperatures: Readonly<Record<number, object>>) {
  const unusual = async ({ number }: { number: number }) => {
    const temperature = temperatures[number]
    if (temperature === undefined) return { ok: false, code: 'DATABASE_AWAY' }
    const others = { humidity: none, pressure: none, battery_voltage: none, battery_percentage: none }
    const answer = { device: 'x', time_zone: 'UTC', generated_at: '2026-01-01 10:00', temperature, ...others }
    return { ok: true, body: { bytes: Buffer.from(JSON.stringify(answer)) } }
  }
  const byNumber = (number: number) => (number === 9 ? undefined : { number })
  const metrics = { get: () => undefined }
  const shifts = createUnusualShifts({ unusual } as never, { byNumber } as never, metrics as never)
  const devices = [...Object.keys(temperatures).map(Number), 9].map(number => ({ number }))
  return shifts(devices as never, 'temperature', new AbortController().signal)
}

test('the deviation of a gauge is 0 where it is usual and missing for young and removed devices', async t => {
  const shifts = await shiftsOf({ 1: low, 2: none, 3: young })
  t.strictSame([...shifts.keys()].sort(), [1, 2])
  t.ok(Math.abs((shifts.get(1) ?? 0) + 3.1) < 1e-9)
  t.equal(shifts.get(2), 0)
})

test('an unreadable fact rejects and is requested again', async t => {
  await t.rejects(shiftsOf({ 1: low, 2: undefined as never }), /temperature is unusual.*DATABASE_AWAY/)
})

const hourMs = 3_600_000

t.test('refused readings of the last day count, with the credential of the device alone', async t => {
  let nowMs = Date.UTC(2026, 0, 1)
  const rejections = createRejections({ nowMs: () => nowMs, senderLog: () => {} })
  const add = (sender: string, isKnown: boolean, reason: string, count: number) => {
    for (let left = count; left > 0; left--) {
      rejections.add({ way: 'put', sender: { name: sender, isKnown }, device: 'porch', reason })
    }
  }
  const shown = () => rejectedReadings(rejections, 'porch', nowMs)
  add('address 192.0.2.1', false, 'unauthorized', 50)
  add('device roof', true, 'forbidden', 50)
  t.equal(shown(), undefined)
  add('device porch', true, 'temperature out of range', 3)
  const sinceMs = nowMs
  nowMs += hourMs
  add('device porch', true, 'humidity out of range', 10)
  t.strictSame(shown(), { count: 8, reason: 'humidity out of range', sinceMs })
  const sender = { name: 'device porch', isKnown: true }
  for (let left = 30; left > 0; left--) {
    rejections.add({ way: 'put', sender, device: 'porch', reason: 'created_at is a time', part: 'field' })
  }
  t.match(shown(), { count: 8 }, 'a field that is not a metric is no fault')
  for (let left = 30; left > 0; left--) {
    rejections.add({ way: 'put', sender, device: 'porch', reason: 'pressure out of range', part: 'value' })
  }
  t.match(shown(), { count: 32, reason: 'pressure out of range' }, 'a value that is left out counts')
  nowMs += 25 * hourMs
  t.equal(shown(), undefined, 'a day later')
})
