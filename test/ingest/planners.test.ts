/** Planning of live and late rows: order, batches, and repeated rows. */

import fc from 'fast-check'
import t, { test } from 'tap'
import { SeenRows } from '../../ingest/formats/merged-rows.ts'
import { BackfillPlanner, timeOrder } from '../../ingest/forwarder/backfill-planner.ts'
import type { Part } from '../../ingest/forwarder/batch.ts'
import { CustomSeries } from '../../ingest/forwarder/custom-series.ts'
import { LivePlanner } from '../../ingest/forwarder/live-planner.ts'
import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { erasedCustom, layoutOf, markFineTime, offsetOf } from '../../ingest/journal/record.ts'
import type { Chunk } from '../../ingest/journal/segment-reader.ts'
import { readingLength, readings, writeReading } from '../../ingest/readings-table.ts'
import { device, reading, records } from '../support/journal-parts.ts'
import { runs } from '../support/runs.ts'

interface Row {
  device: number
  timeUs: number
  isLate: boolean
  /** A client's time with microseconds. */
  isFine?: boolean
}

function recordOf({ device: number, timeUs, isLate, isFine = false }: Row): Buffer {
  const bytes = records(device(number), [1], timeUs, isLate)
  if (isFine) markFineTime(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0)
  return bytes
}

/** Its bytes do not begin with their memory. */
function chunkOf(groups: Row[][], position = 0): Chunk {
  const bodies = groups.map(rows => Buffer.concat(rows.map(recordOf)))
  const chunk: Chunk = { bytes: new Uint8Array(), position, groups: [], damaged: [], next: position }
  let firstOrdinal = 0
  for (const [index, body] of bodies.entries()) {
    const rows = groups[index] as Row[]
    const backfillCount = rows.filter(({ isLate }) => isLate).length
    const counts = { bodyLength: body.length, recordCount: rows.length, backfillCount }
    chunk.groups.push({ ...counts, position: chunk.next, firstOrdinal, receiptUs: 1, lastStampUs: 1 })
    chunk.next += groupHeaderLength + body.length
    firstOrdinal += rows.length
  }
  const groupBytes = bodies.flatMap(body => [new Uint8Array(groupHeaderLength), body])
  const memory = Buffer.concat([new Uint8Array(7), ...groupBytes])
  chunk.bytes = new Uint8Array(memory).subarray(7)
  return chunk
}

const layout = layoutOf(readings)

/** Groups of a thousand, with times of our own. */
function groupsOf(count: number, devices: number): Row[][] {
  const rowOf = (index: number) => ({ device: 1 + (index % devices), timeUs: 1_000_001 + index * 1000, isLate: false })
  const rows = Array.from({ length: count }, (_, index) => rowOf(index))
  return Array.from({ length: Math.ceil(count / 1000) }, (_, at) => rows.slice(at * 1000, (at + 1) * 1000))
}

const offsetsIn = (parts: Part[]) => parts.flatMap(part => [...part.offsets.subarray(0, part.count)])

test('rows of known devices are cut by position, in turns over the connections', t => {
  const chunk = chunkOf(groupsOf(20_000, 10))
  const planner = new LivePlanner(layout, 2, new CustomSeries(new Uint32Array()))
  planner.plan(chunkOf(groupsOf(10, 10)))
  const { batch, chunk: planned } = planner.plan(chunk)
  t.equal(planned.next, chunk.next)
  const { parts } = batch
  t.equal(parts.map(({ connection, count }) => `${connection}: ${count}`).join(), '0: 10000,1: 10000')
  const offsets = offsetsIn(parts)
  const areInOrder = offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0))
  t.ok(areInOrder, 'each once')
  t.notOk(batch.hasClientTimes)
  t.end()
})

test('devices that QuestDB may not know go over one connection, in a short batch', t => {
  const chunk = chunkOf(groupsOf(70_500, 70))
  const planner = new LivePlanner(layout, 2, new CustomSeries(new Uint32Array()))
  const first = planner.plan(chunk)
  t.equal(first.batch.parts.length, 1)
  t.equal(first.batch.parts[0]?.count, 64_000)
  t.equal(first.chunk.next, chunk.groups.find(group => group.firstOrdinal === 64_000)?.position, 'it ends with a group')
  t.same(new Set(first.batch.series), new Set(Array.from({ length: 70 }, (_, index) => index + 1)))
  const firstOffsets = offsetsIn(first.batch.parts)
  t.equal(planner.plan(chunk).batch.parts.length, 2, 'the next batch knows them')
  t.strictSame(offsetsIn(first.batch.parts), firstOffsets, 'the batch before it stays as it is')
  planner.forgetSymbols()
  t.equal(planner.plan(chunk).batch.parts.length, 1, 'a batch that was not taken made none of them known')
  t.end()
})

const halfMs = fc.nat(30).map(half => 1_000_000 + half * 500)
const common = { device: fc.integer({ min: 1, max: 5 }), timeUs: halfMs, isLate: fc.boolean() }
const rowWith = (isFine: fc.Arbitrary<boolean>) =>
  fc.record({ ...common, isFine }).map(row => ({ ...row, isFine: row.isFine && row.timeUs % 1000 !== 0 }))
const groupsWith = (isFine: fc.Arbitrary<boolean>) =>
  fc.array(fc.array(rowWith(isFine), { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 })
const anyGroups = fc.oneof(groupsWith(fc.constant(false)), groupsWith(fc.nat(20).map(draw => draw === 0)))

test('a live row is in one batch, as the last of its key', async t => {
  const planner = new LivePlanner(layout, 2, new CustomSeries(new Uint32Array()))
  const property = fc.property(anyGroups, groups => {
    const { batch } = planner.plan(chunkOf(groups))
    const rows = groups.flat().filter(({ isLate }) => !isLate)
    const keyOf = ({ device, timeUs }: Row) => `${device} ${timeUs}`
    const haveKeys = rows.some(row => row.isFine)
    const isLast = (row: Row, index: number) =>
      (row.timeUs % 1000 !== 0 && !haveKeys) || !rows.slice(index + 1).some(later => keyOf(later) === keyOf(row))
    const planned = offsetsIn(batch.parts).flatMap(offset => {
      if (offset < 0) return []
      const device = batch.view.getUint32(offset + offsetOf.series, true)
      return [`${device} ${batch.view.getFloat64(offset + offsetOf.timeUs, true)}`]
    })
    t.strictSame(planned, rows.filter(isLast).map(keyOf))
    const haveClientTimes = rows.some(({ timeUs, isFine }) => timeUs % 1000 === 0 || isFine)
    t.equal(batch.hasClientTimes, haveClientTimes)
    t.strictSame(new Set(batch.series), new Set(rows.map(row => row.device)))
  })
  fc.assert(property, runs(20, 100))
})

/** A record that has to be sent. */
interface Expected extends Pick<Row, 'device' | 'timeUs'> {
  position: number
}

const { kind } = layoutOf(readings)
const row: fc.Arbitrary<Row> = fc.record({
  device: fc.integer({ min: 1, max: 5 }),
  timeUs: fc.oneof(fc.nat(10), fc.integer({ min: 1.6e15, max: 1.8e15 })),
  isLate: fc.boolean(),
})
/** Chunks of groups. */
const chunks = fc.array(fc.array(fc.array(row, { maxLength: 20 }), { minLength: 1, maxLength: 5 }), { maxLength: 4 })

/** The last row of each device and time, sorted by time. */
function expectedOf(collected: readonly { chunk: Chunk; groups: Row[][] }[]): Expected[] {
  const latest = new Map<string, Expected>()
  for (const { chunk, groups } of collected) {
    for (const [index, rows] of groups.entries()) {
      let position = (chunk.groups[index]?.position ?? 0) + groupHeaderLength
      for (const row of rows) {
        const { device, timeUs, isLate } = row
        if (isLate) latest.set(`${device} ${timeUs}`, { device, timeUs, position })
        position += recordOf(row).length
      }
    }
  }
  return [...latest.values()].sort((a, b) => a.timeUs - b.timeUs || a.position - b.position)
}

test('late rows are planned by time, each device and time once, wherever their chunks were', t => {
  const planner = new BackfillPlanner(kind, 1, new CustomSeries(new Uint32Array()))
  const property = fc.property(chunks, fc.boolean(), (of, shrinks) => {
    planner.clear()
    if (shrinks) planner.shrink()
    let position = 1000
    const collected = of.map(groups => {
      const chunk = chunkOf(groups, position)
      position = chunk.next
      return { chunk, groups }
    })
    for (const { chunk } of collected) {
      if (!planner.collect(chunk)) return false
      // The reader uses its memory for the next one.
      chunk.bytes.fill(255)
    }
    const expected = expectedOf(collected)
    const { parts, view, positionOf, oldestUs, series } = planner.plan()
    const offsets = parts.flatMap(part => [...part.offsets.subarray(0, part.count)]).filter(offset => offset !== -1)
    const planned = offsets.map((offset): Expected => {
      const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
      return { device: view.getUint32(offset + offsetOf.series, true), timeUs, position: positionOf(offset) }
    })
    const isOldest = oldestUs === (expected[0]?.timeUs ?? Number.POSITIVE_INFINITY)
    const devices = new Set(expected.map(({ device: number }) => number))
    const hasSeries = [...series].length === devices.size && [...series].every(number => devices.has(number))
    return isOldest && hasSeries && JSON.stringify(planned) === JSON.stringify(expected)
  })
  fc.assert(property, runs(60, 500))
  t.end()
})

test('rows of many groups are more than there was room for at first', t => {
  const planner = new BackfillPlanner(kind, 1, new CustomSeries(new Uint32Array()))
  const late = (index: number): Row => ({ device: 1 + (index % 7), timeUs: 1e15 - index, isLate: true })
  const groups = [...Array(10).keys()].map(group => Array.from({ length: 3000 }, (_, at) => late(group * 3000 + at)))
  t.ok(planner.collect(chunkOf(groups)))
  t.match(planner.plan().parts, [{ count: 30_000, connection: 1 }])
  t.end()
})

const timeUs = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.maxSafeNat(),
  fc.nat().map(ms => 1.7e15 + ms * 1000),
)

test('rows are ordered by time, then by arrival', t => {
  const property = fc.property(fc.array(timeUs, { maxLength: 200 }), times => {
    const expected = times.map((_, index) => index)
    expected.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b)
    const order = timeOrder(Float64Array.from(times))
    return expected.length === order.length && expected.every((index, at) => index === order[at])
  })
  fc.assert(property)
  t.end()
})

t.test('a row is seen again by its series and time, as in a set of all', async () => {
  const row = fc.tuple(
    fc.nat({ max: 70 }),
    fc.nat({ max: 70 }).map(time => (time - 35) * 1_000_001),
  )
  const property = fc.property(fc.array(row, { maxLength: 4_000, size: 'max' }), rows => {
    const seen = new SeenRows()
    const all = new Set<string>()
    return rows.every(([series, timeUs]) => {
      const key = `${series} ${timeUs}`
      const isThere = all.has(key)
      all.add(key)
      return seen.add(series, timeUs) === isThere
    })
  })
  fc.assert(property, runs(20, 100))
})

t.test('a full buffer drops the earliest rows after it has grown', async t => {
  const seen = new SeenRows(10_000)
  for (let row = 0; row < 15_000; row++) if (seen.add(row % 7, row * 1000)) t.fail(`${row} is new`)
  t.ok(seen.add(14_999 % 7, 14_999_000))
  t.ok(seen.add(0, 0), 'of the generation before')
  for (let row = 15_000; row < 40_000; row++) if (seen.add(row % 7, row * 1000)) t.fail(`${row} is new`)
  t.notOk(seen.add(1, 1000))
})

const porch = device(1)

/** A record of the porch at this second with values of these series. NaN marks an erased one. */
function absentOf(known: CustomSeries, second: number, series: number[], value = 1): number[] {
  const given = { ...reading(1, second * 1000), custom: { series, values: series.map(() => value) } }
  const view = new DataView(new ArrayBuffer(readingLength(porch, given)))
  writeReading(view, 0, porch, second * 1_000_000, false, given)
  return [...known.absentOf(view, 0)]
}

test('a history in the order of time replaces nothing, however sparse it is', t => {
  const known = new CustomSeries(new Uint32Array())
  const all = Array.from({ length: 64 }, (_, index) => 100 + index)
  let absent = 0
  for (let second = 1; second <= 1000; second++) absent += absentOf(known, second, [all[second % 64] as number]).length
  t.equal(absent, 0)
  t.strictSame(absentOf(known, 1000, [100]), [140], 'at the same time, the one that had a value then')
  t.equal(absentOf(known, 936, []).length, 64, 'all of those may have one')
  t.equal(absentOf(known, 990, []).length, 12, 'and of the last seconds those that came since')
  t.end()
})

test('rows of earlier processes may be as late as the newest of the table', t => {
  const known = new CustomSeries(Uint32Array.of(1, 11, 1, 12))
  t.strictSame(absentOf(known, 50, [13]), [11, 12], 'while their delay is unknown')
  known.storedUntil(60_000_000)
  t.strictSame(absentOf(known, 60, [13]), [11, 12])
  t.strictSame(absentOf(known, 61, []), [])
  t.strictSame(absentOf(known, 55, []), [11, 12, 13])
  t.end()
})

test('an erased series is forgotten even if its records come again', t => {
  const known = new CustomSeries(Uint32Array.of(1, 11, 1, 12))
  t.strictSame(absentOf(known, 5, [13]), [11, 12])
  known.forget(new Set([11, 13].map(erasedCustom)))
  t.strictSame(absentOf(known, 5, []), [12])
  t.strictSame(absentOf(known, 5, [11, 13], Number.NaN), [12])
  t.strictSame(absentOf(known, 5, []), [12])
  known.storedUntil(1)
  t.strictSame(absentOf(known, 5, [14]), [])
  t.strictSame(absentOf(known, 5, []), [14], 'the one that came later was not there before')
  t.end()
})
