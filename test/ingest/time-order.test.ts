import fc from 'fast-check'
import { test } from 'tap'
import { timeOrder } from '../../ingest/forwarder/time-order.ts'

const timeUs = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.maxSafeNat(),
  fc.nat().map(ms => 1.7e15 + ms * 1000),
)

test('rows are ordered by time, and else as they came', t => {
  const property = fc.property(fc.array(timeUs, { maxLength: 200 }), times => {
    const expected = times.map((_, index) => index)
    expected.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b)
    const order = timeOrder(Float64Array.from(times))
    return expected.length === order.length && expected.every((index, at) => index === order[at])
  })
  fc.assert(property)
  t.end()
})
