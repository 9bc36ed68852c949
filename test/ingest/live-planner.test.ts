import fc from 'fast-check'
import { test } from 'tap'
import type { Part } from '../../ingest/forwarder/batch.ts'
import { CustomSeries } from '../../ingest/forwarder/custom-series.ts'
import { LivePlanner } from '../../ingest/forwarder/live-planner.ts'
import { layoutOf, offsetOf } from '../../ingest/journal/record.ts'
import { readings } from '../../ingest/readings-table.ts'
import { runs } from '../support/runs.ts'
import { chunkOf, type Row } from './planned-chunk.ts'

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

test('each live row stands in a batch once, and of one key only the last', async t => {
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
