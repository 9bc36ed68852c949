/** Which records of fetched batches are those from an offset on. */

import { createRecordsBatch, Reader, readRecordsBatches } from '@platformatic/kafka'
import fc from 'fast-check'
import { test } from 'tap'
import { missingVersions } from '../../ingest/kafka/broker-connection.ts'
import { recordsFrom } from '../../ingest/kafka/fetcher.ts'

const appendTime = 8
const control = 32

interface Batch {
  values: Uint8Array[]
  /** Offsets that are not there in front of it. */
  gap: number
  attributes: number
}

const batches = fc.array(
  fc.record({
    values: fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 4 }),
    gap: fc.nat(2),
    attributes: fc.constantFrom(0, appendTime, control),
  }),
  { maxLength: 6 },
)

const sentMs = 1000n

/** As a broker hands it out. */
function bytesOf({ values, attributes }: Batch, firstOffset: number): Buffer {
  const messages = values.map((value, i) => ({ topic: 'a', value: Buffer.from(value), timestamp: sentMs + BigInt(i) }))
  const bytes = Buffer.from(createRecordsBatch(messages).buffer)
  bytes.writeBigInt64BE(BigInt(firstOffset), 0)
  bytes.writeInt16BE(attributes, 21)
  return bytes
}

test('records from an offset on, with their offsets and times, and without those that are none', async () => {
  const property = fc.property(batches, fc.nat(20), (given, from) => {
    let next = 0
    const expected: { offset: number; appendedMs: number; value: string }[] = []
    const pieces = given.map(batch => {
      const first = next + batch.gap
      next = first + batch.values.length
      const isControl = batch.attributes === control
      for (const [i, value] of batch.values.entries()) {
        const ms = Number(sentMs) + (batch.attributes === appendTime ? batch.values.length - 1 : i)
        const record = { offset: first + i, appendedMs: ms, value: Buffer.from(value).toString('hex') }
        if (!isControl && record.offset >= from) expected.push(record)
      }
      return bytesOf(batch, first)
    })
    const read = readRecordsBatches(Reader.from(Buffer.concat(pieces)))
    const { records, nextOffset } = recordsFrom(read, from)
    const found = records.map(record => ({ ...record, value: record.value.toString('hex') }))
    return JSON.stringify(found) === JSON.stringify(expected) && nextOffset === Math.max(from, next)
  })
  fc.assert(property, { numRuns: 500 })
})

test('versions of requests that a broker lacks are named', async t => {
  const library = await import('@platformatic/kafka')
  const all = [0, 1, 2, 3, 22, 32].map(apiKey => ({ apiKey, minVersion: 0, maxVersion: 15 }))
  t.strictSame(missingVersions(library, all), [])
  const [produce, fetch, ...rest] = all
  const older = [{ ...produce, minVersion: 10 }, { ...fetch, maxVersion: 12 }, ...rest.slice(1)] as typeof all
  t.strictSame(missingVersions(library, older), [
    'Produce 9, it has 10 to 15',
    'Fetch 13, it has 0 to 12',
    'no ListOffsets',
  ])
})
