/** Row 4: a torn tail, a flipped bit in the tail, and one in the middle. Power cuts: power-loss.test.ts. */

import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openDisk } from '../../../ingest/journal/disk.ts'
import { type GroupHeader, groupHeaderLength, sealGroup } from '../../../ingest/journal/group.ts'
import { SegmentReader } from '../../../ingest/journal/segment-reader.ts'
import { listSegments, segmentName } from '../../../ingest/journal/segments.ts'
import { type DeviceRef, readingLength, writeReading } from '../../../ingest/readings-table.ts'
import { readReading } from '../../support/journal-parts.ts'
import { until } from '../../support/processes.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { sequenceEnd, sequenceOf, valuesOf } from '../identity.ts'
import type { Tally } from '../tally.ts'

const damages = ['torn tail', 'flip in the tail', 'flip in the middle'] as const
type Damage = (typeof damages)[number]

export async function damageJournal(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  chosen: readonly Damage[] = damages,
): Promise<void> {
  await experiment(harness, { seed, tally }, async bed => {
    for (let cycle = 0; cycle < Math.max(1, Math.ceil(cycles / chosen.length)); cycle++) {
      for (const damage of chosen) await damageOnce(bed, damage)
    }
    await bed.untilAcknowledged(100)
  })
}

async function damageOnce(bed: TestBed, damage: Damage): Promise<void> {
  const { service, proxy } = bed
  // Damaged groups must not have been forwarded yet.
  proxy.trouble.refuses = true
  proxy.cut()
  await bed.untilAcknowledged(300 + bed.random.below(300))
  await bed.kill()
  const journal = join(service.dataDirectory, 'journal')
  const before = quarantined(journal)
  if (damage === 'flip in the middle') flipInTheMiddle(bed, journal)
  else addBrokenTail(bed, journal, damage === 'torn tail')
  proxy.calm()
  await service.start()
  const isLogged = async () => {
    const { status, reasons } = await service.ready()
    return (
      status === 'degraded' && reasons.some(reason => reason.includes('corrupted')) && quarantined(journal) > before
    )
  }
  // The journal's earlier content is applied when at most the readings since then are pending.
  const start = await service.status()
  const isApplied = async () => {
    const { journal, lag } = await service.status()
    return lag.readings <= journal.readings - start.journal.readings
  }
  await until('the damage is logged, or the journal is applied', async () => (await isLogged()) || (await isApplied()))
  if (!(await isLogged())) bed.tally.problems.push(`a ${damage} is not logged, or not kept in quarantine`)
}

function quarantined(journal: string): number {
  return readdirSync(journal).filter(name => name.startsWith('quarantine-')).length
}

interface Found {
  groups: GroupHeader[]
  segment: number
  end: number
}

/** The newest segment with groups. */
function newestSegment(journal: string): Found {
  const disk = openDisk(journal)
  const segment = listSegments(disk).at(-1) ?? 0
  const file = disk.open(segmentName(segment), false)
  const size = file.size()
  file.close()
  const reader = new SegmentReader(disk)
  const groups: GroupHeader[] = []
  let position = segment
  for (;;) {
    const chunk = reader.read(position, segment + size)
    groups.push(...chunk.groups)
    if (chunk.next <= position || chunk.next >= segment + size) break
    position = chunk.next
  }
  reader.close()
  const last = groups.at(-1)
  const end = last === undefined ? segment : last.position + groupHeaderLength + last.bodyLength
  return { groups: groups.filter(group => group.recordCount > 0), segment, end }
}

/** Flips one bit of an acknowledged group. Only the readings of this group are exempt. */
function flipInTheMiddle(bed: TestBed, journal: string): void {
  const { groups, segment } = newestSegment(journal)
  const half = groups.slice(Math.floor(groups.length / 2), -1)
  const group = half[bed.random.below(half.length)]
  if (group === undefined) throw new Error('there is no group in the middle')
  const path = join(journal, segmentName(segment))
  const bytes = readFileSync(path)
  const offset = group.position - segment
  for (const sequence of sequencesIn(bytes, offset, group)) bed.exempt.add(sequence)
  // A flipped value is detected only by the checksum.
  const at = offset + groupHeaderLength + 16 + 5
  overwrite(path, Uint8Array.of((bytes[at] as number) ^ 4), at)
  bed.tally.notes.push(`${group.recordCount} acknowledged readings damaged on purpose`)
}

function sequencesIn(bytes: Buffer, offset: number, group: GroupHeader): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const sequences: number[] = []
  let at = offset + groupHeaderLength
  const end = at + group.bodyLength
  while (at < end) {
    sequences.push(sequenceOf(readReading(view, at).reading) ?? -1)
    at += view.getUint16(at, true)
  }
  return sequences
}

/** An unacknowledged group, in flight when the power failed. None of it may be stored. */
function addBrokenTail(bed: TestBed, journal: string, torn: boolean): void {
  const { groups, segment, end } = newestSegment(journal)
  const last = groups.at(-1)
  if (last === undefined) throw new Error('the journal has no group')
  const path = join(journal, segmentName(segment))
  const before = readFileSync(path)
  const view = new DataView(before.buffer, before.byteOffset, before.byteLength)
  const { deviceNumber, symbol } = readReading(view, last.position - segment + groupHeaderLength)
  const group = unattemptedGroup({ number: deviceNumber, symbol }, end, last, 5 + bed.random.below(200))
  const cut = torn ? 1 + bed.random.below(group.length - 1) : group.length
  if (!torn) {
    const at = bed.random.below(group.length)
    group[at] = (group[at] as number) ^ (1 << bed.random.below(8))
  }
  overwrite(path, group.subarray(0, cut), end - segment)
}

/** Readings of a real device without attempts: a stored one would be a phantom. */
function unattemptedGroup(device: DeviceRef, position: number, last: GroupHeader, recordCount: number): Uint8Array {
  const bodyLength = recordCount * readingLength(device)
  const bytes = new Uint8Array(groupHeaderLength + bodyLength)
  const view = new DataView(bytes.buffer)
  const receiptUs = Date.now() * 1000
  let offset = groupHeaderLength
  for (let index = 0; index < recordCount; index++) {
    const reading = { timestampMs: undefined, ...valuesOf(sequenceEnd - 1 - index) }
    offset = writeReading(view, offset, device, receiptUs + 1 + index, false, reading)
  }
  const { lastStampUs } = last
  const firstOrdinal = last.firstOrdinal + last.recordCount
  sealGroup(bytes, { bodyLength, recordCount, backfillCount: 0, receiptUs, lastStampUs, position, firstOrdinal })
  return bytes
}

function overwrite(path: string, bytes: Uint8Array, position: number): void {
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, bytes, 0, bytes.length, position)
  fdatasyncSync(descriptor)
  closeSync(descriptor)
}
