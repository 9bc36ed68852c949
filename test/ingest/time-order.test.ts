import fc from 'fast-check'
import { test } from 'tap'
import { timeOrder } from '../../ingest/forwarder/time-order.ts'

const timeUs = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.maxSafeNat(),
  fc.nat().map(ms => 1.7e15 + ms * 1000),
)
const seriesNumber = fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 2 ** 32 - 1 }))

test('rows are ordered by time, then by series, and else as they came', t => {
  const property = fc.property(fc.array(fc.tuple(timeUs, seriesNumber), { maxLength: 200 }), rows => {
    const order = timeOrder(
      Float64Array.from(rows, ([time]) => time),
      Float64Array.from(rows, ([, number]) => number),
    )
    const expected = rows.map((_, index) => index)
    expected.sort((a, b) => {
      const [aUs, aNumber] = rows[a] as [number, number]
      const [bUs, bNumber] = rows[b] as [number, number]
      return aUs - bUs || aNumber - bNumber || a - b
    })
    return expected.length === order.length && expected.every((index, at) => index === order[at])
  })
  fc.assert(property)
  t.end()
})
