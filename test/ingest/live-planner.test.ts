import fc from 'fast-check'
import { test } from 'tap'
import type { Part } from '../../ingest/forwarder/batch.ts'
import { FurtherSeries } from '../../ingest/forwarder/further-series.ts'
import { LivePlanner } from '../../ingest/forwarder/live-planner.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { layoutOf, markFineTime, offsetOf } from '../../ingest/journal/record.ts'
import { type Chunk, SegmentReader } from '../../ingest/journal/segment-reader.ts'
import { SegmentWriter } from '../../ingest/journal/segment-writer.ts'
import { readings } from '../../ingest/readings-table.ts'
import { type TestHooks, temporaryFolder } from '../support/databases.ts'
import { device, records, unsealed } from '../support/journal-parts.ts'
import { runs } from '../support/runs.ts'

interface Row {
  device: number
  timeUs: number
  backfill: boolean
  /** A client's time with microseconds. */
  isFine?: boolean
}

const layout = layoutOf(readings)

/** The groups, written to a journal and read back. */
function chunkOf(t: TestHooks, groups: Row[][]): Chunk {
  const disk = openDisk(temporaryFolder(t))
  const writer = new SegmentWriter({ disk, end: { position: 0, ordinal: 0, lastStampUs: 0 }, reserveBytes: 0 })
  let end = 0
  for (const rows of groups) {
    const body = Buffer.concat(rows.map(recordOf))
    const backfillCount = rows.filter(row => row.backfill).length
    const group = { recordCount: rows.length, backfillCount, receiptUs: 1, lastStampUs: 1 }
    end = writer.commit(unsealed(body), group).end
  }
  writer.close()
  return new SegmentReader(disk).read(0, end)
}

function recordOf({ device: number, timeUs, backfill, isFine = false }: Row): Buffer {
  const bytes = records(device(number), [1], timeUs, backfill)
  if (isFine) markFineTime(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0)
  return bytes
}

const ownTimes = (count: number, devices: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    device: 1 + (index % devices),
    timeUs: 1_000_001 + index * 1000,
    backfill: false,
  }))

function groupsOf(rows: Row[], size = 1000): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) =>
    rows.slice(index * size, (index + 1) * size),
  )
}

const offsetsIn = (parts: Part[]) => parts.flatMap(part => [...part.offsets.subarray(0, part.count)])

test('rows of known devices are cut by position, in turns over the connections', t => {
  const chunk = chunkOf(t, groupsOf(ownTimes(20_000, 10)))
  const planner = new LivePlanner(layout, 2, new FurtherSeries(new Uint32Array()))
  planner.plan(chunkOf(t, groupsOf(ownTimes(10, 10))))
  const { batch, chunk: planned } = planner.plan(chunk)
  t.equal(planned.next, chunk.next)
  t.strictSame(
    batch.parts.map(part => [part.connection, part.count]),
    [
      [0, 10_000],
      [1, 10_000],
    ],
  )
  const offsets = offsetsIn(batch.parts)
  t.strictSame(
    offsets,
    [...offsets].sort((a, b) => a - b),
  )
  t.equal(new Set(offsets).size, 20_000)
  t.notOk(batch.hasClientTimes)
  t.end()
})

test('devices that QuestDB may not know go over one connection, in a short batch', t => {
  const chunk = chunkOf(t, groupsOf(ownTimes(70_500, 70)))
  const planner = new LivePlanner(layout, 2, new FurtherSeries(new Uint32Array()))
  const first = planner.plan(chunk)
  t.equal(first.batch.parts.length, 1)
  t.equal(first.batch.parts[0]?.count, 64_000)
  t.equal(first.chunk.next, chunk.groups.find(group => group.firstOrdinal === 64_000)?.position, 'it ends with a group')
  t.strictSame(
    [...first.batch.series].sort((a, b) => a - b),
    Array.from({ length: 70 }, (_, index) => index + 1),
  )
  const firstOffsets = offsetsIn(first.batch.parts)
  t.equal(planner.plan(chunk).batch.parts.length, 2, 'the next batch knows them')
  t.strictSame(offsetsIn(first.batch.parts), firstOffsets, 'the batch before it stays as it is')
  planner.forgetSymbols()
  t.equal(planner.plan(chunk).batch.parts.length, 1, 'a batch that was not taken made none of them known')
  t.end()
})

const rowWith = (isFine: fc.Arbitrary<boolean>) =>
  fc
    .record({
      device: fc.integer({ min: 1, max: 5 }),
      timeUs: fc.nat(30).map(half => 1_000_000 + half * 500),
      backfill: fc.boolean(),
      isFine,
    })
    .map(row => ({ ...row, isFine: row.isFine && row.timeUs % 1000 !== 0 }))
const groupsWith = (isFine: fc.Arbitrary<boolean>) =>
  fc.array(fc.array(rowWith(isFine), { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 })
const anyGroups = fc.oneof(groupsWith(fc.constant(false)), groupsWith(fc.nat(20).map(draw => draw === 0)))

test('each live row stands in a batch once, and of one key only the last', async t => {
  const hooks: (() => unknown)[] = []
  t.teardown(() => hooks.forEach(hook => void hook()))
  const rig: TestHooks = { teardown: work => void hooks.push(work) }
  const planner = new LivePlanner(layout, 2, new FurtherSeries(new Uint32Array()))
  fc.assert(
    fc.property(anyGroups, groups => {
      const { batch } = planner.plan(chunkOf(rig, groups))
      const rows = groups.flat().filter(({ backfill }) => !backfill)
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
      t.equal(
        batch.hasClientTimes,
        rows.some(({ timeUs, isFine }) => timeUs % 1000 === 0 || isFine),
      )
      t.strictSame(new Set(batch.series), new Set(rows.map(row => row.device)))
    }),
    runs(20, 100),
  )
})
