/** What the statistics of a device are told of its refused readings. */

import t from 'tap'
import { createRejections } from '../../ingest/rejections/rejections.ts'
import { rejectedReadings } from '../../service/rejected-readings.ts'

const hourMs = 3_600_000

t.test('refused readings of the last day count, with the credential of the device alone', async t => {
  let nowMs = Date.UTC(2026, 0, 1)
  const rejections = createRejections({ nowMs: () => nowMs, senderLog: () => {} })
  const add = (sender: string, isKnown: boolean, reason: string, count: number) => {
    for (let left = count; left > 0; left--) {
      rejections.add({ way: 'put', sender: { name: sender, isKnown }, device: 'porch', reason })
    }
  }
  const told = () => rejectedReadings(rejections, 'porch', nowMs)
  add('address 192.0.2.1', false, 'unauthorized', 50)
  add('device roof', true, 'forbidden', 50)
  t.equal(told(), undefined)
  add('device porch', true, 'temperature out of range', 3)
  const sinceMs = nowMs
  nowMs += hourMs
  add('device porch', true, 'humidity out of range', 10)
  t.strictSame(told(), { count: 8, reason: 'humidity out of range', sinceMs })
  const sender = { name: 'device porch', isKnown: true }
  for (let left = 30; left > 0; left--) {
    rejections.add({ way: 'put', sender, device: 'porch', reason: 'created_at is a time', part: 'field' })
  }
  t.match(told(), { count: 8 }, 'a field that is not a metric is no fault')
  for (let left = 30; left > 0; left--) {
    rejections.add({ way: 'put', sender, device: 'porch', reason: 'pressure out of range', part: 'value' })
  }
  t.match(told(), { count: 32, reason: 'pressure out of range' }, 'a value that is left out counts')
  nowMs += 25 * hourMs
  t.equal(told(), undefined, 'a day later')
})
