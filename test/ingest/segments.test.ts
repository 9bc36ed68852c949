import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Test, test } from 'tap'
import { type Disk, openDisk } from '../../ingest/journal/disk.ts'
import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { recoverJournal } from '../../ingest/journal/recovery.ts'
import { type Chunk, SegmentReader } from '../../ingest/journal/segment-reader.ts'
import { SegmentWriter } from '../../ingest/journal/segment-writer.ts'
import { listSegments, readCheckpoint, segmentName, writeCheckpoint } from '../../ingest/journal/segments.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, readReading, records, unsealed } from '../support/journal-parts.ts'
import { runs } from '../support/runs.ts'
import { openFaultyDisk } from './faulty-disk.ts'

const empty = { position: 0, ordinal: 0, lastStampUs: 0 }

function openWriter(disk: Disk, segmentBytes = 1024 * 1024): SegmentWriter {
  return new SegmentWriter({ disk, end: recoverJournal(disk).end, reserveBytes: 0, segmentBytes })
}

/** One group with these temperatures, stamped by position in time. */
function commit(writer: SegmentWriter, temperatures: number[], stampUs = 1) {
  const body = records(device(1), temperatures, stampUs)
  const group = { recordCount: temperatures.length, backfillCount: 0, receiptUs: stampUs, lastStampUs: stampUs }
  return writer.commit(unsealed(body), group)
}

interface Found {
  temperatures: number[]
  damaged: { from: number; to: number; zeros: boolean }[]
}

function readAll(disk: Disk, end: number): Found {
  const reader = new SegmentReader(disk)
  const found: Found = { temperatures: [], damaged: [] }
  for (let position = 0; position < end; ) {
    const chunk = reader.read(position, end)
    found.temperatures.push(...temperaturesOf(chunk))
    found.damaged.push(...chunk.damaged)
    if (chunk.next === position) break
    position = chunk.next
  }
  reader.close()
  return found
}

function temperaturesOf(chunk: Chunk): number[] {
  const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength)
  return chunk.groups.flatMap(group => {
    const start = group.position - chunk.position + groupHeaderLength
    const found: number[] = []
    for (let offset = start; offset < start + group.bodyLength; offset += view.getUint16(offset, true)) {
      found.push(readReading(view, offset).reading.temperature)
    }
    return found
  })
}

test('the highest stamp outlives the trimming of all older segments', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  const writer = openWriter(disk, 400)
  commit(writer, [1, 2, 3], 5_000_001)
  commit(writer, [4, 5, 6], 6_000_001)
  writer.close()
  const [first = 0, second = 0] = listSegments(disk)
  disk.remove(segmentName(first))
  truncateSync(join(folder, segmentName(second)), groupHeaderLength)
  t.equal(recoverJournal(disk).end.lastStampUs, 5_000_001)
})

test('a torn tail is cut off and quarantined before the journal continues', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  const writer = openWriter(disk)
  commit(writer, [1, 2])
  const { end } = commit(writer, [3])
  writer.close()
  const name = segmentName(0)
  const whole = readFileSync(join(folder, name))
  writeFileSync(join(folder, name), Buffer.concat([whole, whole.subarray(groupHeaderLength, whole.length - 30)]))

  const recovered = recoverJournal(disk)
  t.equal(recovered.end.position, end)
  t.ok(recovered.tornBytes > 200, 'less only the zeros at its end')
  t.ok(readdirSync(folder).some(file => file.startsWith('quarantine-') && file.endsWith('.tail')))
  const next = openWriter(disk)
  const after = commit(next, [4])
  next.close()
  t.strictSame(readAll(disk, after.end).temperatures, [1, 2, 3, 4])
})

test('zeros after the last group are not damage', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  const writer = openWriter(disk)
  const { end } = commit(writer, [1, 2])
  // A killed process leaves the zeros by which the file was extended.
  t.ok(readFileSync(join(folder, segmentName(0))).length > end)
  t.strictSame(recoverJournal(disk), { end: { position: end, ordinal: 2, lastStampUs: 1 }, start: 0, tornBytes: 0 })
})

/** Some groups in a segment, which the tests damage. */
function writeGroups(t: Test) {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  const writer = openWriter(disk)
  const groups = [[1, 2], [3], [4, 5, 6], [7]]
  const ends = groups.map(each => commit(writer, each).end)
  writer.close()
  const path = join(folder, segmentName(0))
  return { disk, groups, ends, path, whole: readFileSync(path) }
}

test('a flipped bit anywhere costs its own group and nothing else', async t => {
  const { disk, groups, ends, path, whole } = writeGroups(t)
  const end = ends.at(-1) as number
  const flipped = fc.property(fc.nat(end - 1), fc.nat(7), (at, bit) => {
    const bytes = Buffer.from(whole)
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
    writeFileSync(path, bytes)
    const hit = ends.findIndex(groupEnd => at < groupEnd)
    const expected = at < groupHeaderLength ? groups.flat() : groups.filter((_, index) => index !== hit).flat()
    const { temperatures, damaged } = readAll(disk, end)
    return JSON.stringify(temperatures) === JSON.stringify(expected) && damaged.length > 0
  })
  fc.assert(flipped, runs(80, 1000))
})

test('a cut loses only the records after it', async t => {
  const { disk, groups, ends, path, whole } = writeGroups(t)
  const cut = fc.property(fc.integer({ min: groupHeaderLength, max: whole.length }), length => {
    writeFileSync(path, whole.subarray(0, length))
    const expected = groups.filter((_, index) => (ends[index] as number) <= length).flat()
    const { end } = recoverJournal(disk)
    return JSON.stringify(readAll(disk, end.position).temperatures) === JSON.stringify(expected)
  })
  fc.assert(cut, runs(50, 500))
})

test('a segment without a whole group is put aside and its name is free again', async t => {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  writeFileSync(join(folder, segmentName(0)), 'nonsense')
  t.strictSame(recoverJournal(disk), { end: empty, start: 0, tornBytes: 8 })
  t.strictSame(listSegments(disk), [])
})

test('a failed write is cut off, or is unknown if it cannot be', async t => {
  for (const [outcome, refused] of Object.entries({ full: ['write'], unknown: ['write', 'truncate'] })) {
    const { disk, faults } = openFaultyDisk(temporaryFolder(t))
    const writer = openWriter(disk)
    commit(writer, [1])
    faults.before = operation => {
      if (refused.includes(operation)) throw new Error('input/output error')
    }
    t.equal(commit(writer, [2]).outcome, outcome)
    faults.before = () => undefined
    const { end } = commit(writer, [3])
    t.strictSame(readAll(disk, end).temperatures, [1, 3], outcome)
  }
})

test('the reserve of the disk is left to others', async t => {
  const { disk, faults } = openFaultyDisk(temporaryFolder(t))
  const writer = new SegmentWriter({ disk, end: empty, reserveBytes: 1000, segmentBytes: 1024 * 1024 })
  faults.freeBytes = 900
  t.equal(commit(writer, [1]).outcome, 'full')
  t.strictSame(listSegments(disk), [], 'no empty file is left by a refusal')
  faults.freeBytes = Number.MAX_SAFE_INTEGER
  t.equal(commit(writer, [1]).outcome, 'stored')
})

test('a record after a lost group is not taken for forwarded', async t => {
  const disk = openDisk(temporaryFolder(t))
  const writer = openWriter(disk)
  const { end } = commit(writer, [1])
  writer.close()
  // A group whose sync failed stood behind it, was forwarded, and did not survive the power cut.
  writeCheckpoint(disk, end + 120)
  const next = openWriter(disk)
  const last = commit(next, [2, 3, 4, 5])
  next.close()
  const recovered = recoverJournal(disk).end
  t.equal(recovered.position, last.end)
  const found = readAll(disk, recovered.position)
  t.strictSame(found.temperatures, [1, 2, 3, 4, 5])
  const chunk = new SegmentReader(disk).read(readCheckpoint(disk, recovered.position), recovered.position)
  t.strictSame(temperaturesOf(chunk), [2, 3, 4, 5], 'the forwarder sends them')
})
