/**
 * Power cuts and kills at any operation of the journal's disk, in histories that a seed repeats. The reference is a list
 * of the records that were handed over, with the answer that each got.
 */

import { groupHeaderLength } from '../../ingest/group.ts'
import { recordLength, writeRecord } from '../../ingest/record.ts'
import { recoverJournal } from '../../ingest/recovery.ts'
import { SegmentReader } from '../../ingest/segment-reader.ts'
import { SegmentWriter } from '../../ingest/segment-writer.ts'
import { listSegments } from '../../ingest/segments.ts'
import { createStamper, type Stamper } from '../../ingest/stamp.ts'
import { device, reading, unsealed } from '../support/journal-parts.ts'
import { createRandom, type Random } from './seeded-random.ts'
import { createSimulatedDisk, type SimulatedDisk } from './simulated-disk.ts'

export interface PowerLossResult {
  seeds: number
  crashes: number
  acknowledged: number
  unknown: number
  refused: number
  /** Acknowledged, and not read back. */
  lost: number
  duplicated: number
  /** Read back although they were refused, or never handed over. */
  phantom: number
  /** Read back with other bytes. */
  wrong: number
  /** Read back in another order than they were handed over. */
  disordered: number
  /** Stamps that were given out again. */
  restamped: number
  /** Syncs of a file after one had failed. */
  mistrusted: number
  failedSeeds: number[]
}

/** `open`: handed over, and the process stopped before it answered. */
type Answer = 'stored' | 'full' | 'unknown' | 'open'

interface Attempt {
  answer: Answer
  record: Buffer
}

const faultKeys = ['lost', 'duplicated', 'phantom', 'wrong', 'disordered', 'restamped', 'mistrusted'] as const
const dayUs = 86_400_000_000
const startUs = Date.UTC(2026, 0, 1) * 1000

export function runPowerLoss(seeds: number, firstSeed = 1): PowerLossResult {
  const result: PowerLossResult = {
    ...{ seeds, crashes: 0, acknowledged: 0, unknown: 0, refused: 0 },
    ...{ lost: 0, duplicated: 0, phantom: 0, wrong: 0, disordered: 0, restamped: 0, mistrusted: 0 },
    failedSeeds: [],
  }
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const faultsBefore = countFaults(result)
    runHistory(createRandom(seed), result)
    if (countFaults(result) > faultsBefore) result.failedSeeds.push(seed)
  }
  return result
}

export function countFaults(result: PowerLossResult): number {
  return faultKeys.reduce((sum, key) => sum + result[key], 0)
}

function runHistory(random: Random, result: PowerLossResult): void {
  const attempts: Attempt[] = []
  let disk = createSimulatedDisk(random)
  const lives = 2 + random.below(6)
  for (let life = 0; life < lives; life++) {
    runLife(disk, attempts, random, result)
    result.mistrusted += disk.switches.mistrusted
    disk = disk.restart(random, random.chance(0.7) ? 'power cut' : 'kill')
    result.crashes++
    check(disk, attempts, result)
  }
  for (const { answer } of attempts) {
    if (answer === 'stored') result.acknowledged++
    else if (answer === 'full') result.refused++
    else result.unknown++
  }
}

/** One process: recovery, groups with faults of the disk among them, until it is stopped in mid-operation. */
function runLife(disk: SimulatedDisk, attempts: Attempt[], random: Random, result: PowerLossResult): void {
  const { switches } = disk
  switches.stopsIn = random.below(random.pick([10, 60, 200]))
  const faultShare = random.pick([0, 0, 0.02, 0.2])
  switches.fault = () => (random.chance(faultShare) ? new Error(random.pick(['EIO', 'ENOSPC'])) : undefined)
  try {
    // The clock was set, forwards or back, while the machine was off.
    const nowUs = startUs + random.below(3) * dayUs
    const { end } = recoverJournal(disk)
    const stamper = createStamper({ nowUs: () => nowUs, floorUs: end.highestStampUs })
    const segmentBytes = random.pick([700, 3000, 20_000])
    const writer = new SegmentWriter({ disk, end, reserveBytes: 1000, segmentBytes })
    while (!switches.isStopped) {
      switches.free = random.chance(0.05) ? 500 : Number.MAX_SAFE_INTEGER
      commitGroup(writer, stamper, attempts, random, switches, result)
      if (random.chance(0.02)) writer.close()
    }
  } catch {
    // A start whose recovery meets a fault of the disk fails; the next one tries again.
  }
}

function commitGroup(
  writer: SegmentWriter,
  stamper: Stamper,
  attempts: Attempt[],
  random: Random,
  switches: SimulatedDisk['switches'],
  result: PowerLossResult,
): void {
  const group: Attempt[] = []
  for (let count = random.below(random.pick([4, 30])); count >= 0; count--) {
    group.push({ answer: 'open', record: makeRecord(attempts.length + group.length, stamper.next()) })
  }
  if (timeOf(group[0]) <= timeOf(attempts.findLast(({ answer }) => answer === 'stored'))) result.restamped++
  attempts.push(...group)
  const receiptUs = stamper.clockUs()
  const counts = { recordCount: group.length, backfillCount: 0 }
  const bytes = unsealed(Buffer.concat(group.map(({ record }) => record)))
  const { outcome } = writer.commit(bytes, { ...counts, receiptUs, highestStampUs: stamper.highestUs() })
  if (switches.isStopped) return
  for (const attempt of group) attempt.answer = outcome
}

const timeOf = (attempt: Attempt | undefined) => attempt?.record.readDoubleLE(8) ?? 0

/** The record's number in the history is its temperature. */
function makeRecord(index: number, timeUs: number): Buffer {
  const of = device(index % 3)
  const record = Buffer.alloc(recordLength(of.symbol.length))
  const view = new DataView(record.buffer, record.byteOffset, record.length)
  writeRecord(view, 0, of, timeUs, false, reading(index))
  return record
}

/** Compares what the next process reads with what was answered. */
function check(disk: SimulatedDisk, attempts: Attempt[], result: PowerLossResult): void {
  const { end, start } = recoverJournal(disk)
  const found = readRecords(disk, start, end.position)
  const seen = new Set<number>()
  let last = -1
  for (const record of found) {
    const index = record.readDoubleLE(16)
    const attempt = attempts[index]
    if (attempt === undefined || attempt.answer === 'full') result.phantom++
    else if (!attempt.record.equals(record)) result.wrong++
    if (seen.has(index)) result.duplicated++
    else if (index < last) result.disordered++
    seen.add(index)
    last = Math.max(last, index)
  }
  attempts.forEach(({ answer }, index) => {
    if (answer === 'stored' && !seen.has(index)) result.lost++
  })
  settleOpen(attempts, seen)
}

/** What recovery has found is kept from now on, and what it has not found is gone for good. */
function settleOpen(attempts: Attempt[], seen: Set<number>): void {
  attempts.forEach((attempt, index) => {
    if (attempt.answer === 'open') attempt.answer = seen.has(index) ? 'stored' : 'full'
  })
}

function readRecords(disk: SimulatedDisk, start: number, end: number): Buffer[] {
  const reader = new SegmentReader(disk)
  const found: Buffer[] = []
  for (let position = listSegments(disk)[0] ?? start; position < end; ) {
    const chunk = reader.read(position, end)
    const bytes = Buffer.from(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.length)
    for (const group of chunk.groups) {
      let offset = group.position - chunk.position + groupHeaderLength
      for (let count = 0; count < group.recordCount; count++) {
        const length = bytes.readUInt16LE(offset)
        found.push(Buffer.from(bytes.subarray(offset, offset + length)))
        offset += length
      }
    }
    if (chunk.next === position) break
    position = chunk.next
  }
  reader.close()
  return found
}
