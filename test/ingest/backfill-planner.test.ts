import fc from 'fast-check'
import { test } from 'tap'
import { BackfillPlanner } from '../../ingest/forwarder/backfill-planner.ts'
import { CustomSeries } from '../../ingest/forwarder/custom-series.ts'
import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { layoutOf, offsetOf } from '../../ingest/journal/record.ts'
import type { Chunk } from '../../ingest/journal/segment-reader.ts'
import { readings } from '../../ingest/readings-table.ts'
import { runs } from '../support/runs.ts'
import { chunkOf, type Row, recordOf } from './planned-chunk.ts'

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

/** Of the rows of one device and time the last one, all of them by time. */
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
