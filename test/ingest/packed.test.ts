/** What travels between main and the thread of imports comes out as it went in. */

import fc from 'fast-check'
import { test } from 'tap'
import { packNames, unpackNames } from '../../ingest/import/packed-names.ts'
import { SeriesPacker, unpackSeries } from '../../ingest/import/packed-series.ts'

const text = fc.string({ unit: 'binary', maxLength: 10 })

test('names', async t => {
  const anyNames = fc
    .integer({ min: 1, max: 3 })
    .chain(parts => fc.array(fc.array(text, { minLength: parts, maxLength: parts }), { maxLength: 20 }))
  const property = fc.property(anyNames, fc.nat(20), fc.nat(20), (names, from, to) => {
    const packed = structuredClone(packNames(names))
    const [first, last] = [Math.min(from, to, names.length), Math.max(from, to)]
    return (
      JSON.stringify(unpackNames(packed)) === JSON.stringify(names) &&
      JSON.stringify(unpackNames(packed, first, last)) === JSON.stringify(names.slice(first, last))
    )
  })
  fc.assert(property)
  t.pass('for all')
})

test('series and reasons why there are none', async t => {
  const series = fc.record({ number: fc.nat(), symbol: text })
  const refusal = fc.record({
    code: fc.constantFrom('DEVICE_UNKNOWN' as const, 'STATION_UNKNOWN' as const),
    reason: fc.constantFrom('a', 'b', 'c'),
  })
  const slices = fc.array(fc.array(fc.oneof(series, refusal), { maxLength: 5 }), { maxLength: 5 })
  const property = fc.property(slices, resolved => {
    const packer = new SeriesPacker()
    for (const slice of resolved) packer.add(slice)
    return JSON.stringify(unpackSeries(structuredClone(packer.pack()))) === JSON.stringify(resolved.flat())
  })
  fc.assert(property)
  t.pass('for all')
})
