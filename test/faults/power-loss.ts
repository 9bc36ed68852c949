/**
 * Power cuts and kills at any operation of the journal's disk, in histories that a seed repeats. The reference is a list of the
 * appended records with the answer for each.
 */

import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { recoverJournal } from '../../ingest/journal/recovery.ts'
import { SegmentReader } from '../../ingest/journal/segment-reader.ts'
import { SegmentWriter } from '../../ingest/journal/segment-writer.ts'
import { listSegments } from '../../ingest/journal/segments.ts'
import type { ClassStamper } from '../../ingest/journal/stamp.ts'
import { openStamper } from '../../ingest/journal/stamp-file.ts'
import { silentLog } from '../support/databases.ts'
import { device, records, unsealed } from '../support/journal-parts.ts'
import { createRandom, type Random } from './seeded-random.ts'
import { createSimulatedDisk, type SimulatedDisk } from './simulated-disk.ts'

const violationKeys = [
  // Acknowledged records that are not read back.
  'lost',
  'duplicated',
  // Records that are read back although they were rejected or never appended.
  'phantom',
  // Records that are read back with other bytes.
  'wrong',
  // Records that are read back in another order.
  'disordered',
  // Records that are read back without the others of their group.
  'split',
  // Stamps assigned twice, although a reader may have seen them.
  'restamped',
  // Stamps more than a second from the clock.
  'offClock',
  // Syncs of a file after a failed sync.
  'resynced',
] as const
const figureKeys = ['crashes', 'acknowledged', 'unknown', 'refused', 'clockSteps'] as const

export interface PowerLossResult extends Record<(typeof violationKeys | typeof figureKeys)[number], number> {
  failedSeeds: number[]
}

/** `open`: appended, but the process stopped before it answered. */
type Answer = 'stored' | 'full' | 'unknown' | 'open'

interface Attempt {
  answer: Answer
  record: Buffer
  /** Number of the first record of its group. */
  group: number
}

const secondUs = 1_000_000
/** Offsets of the clock: among them a day, a year, and corrections too small for a step. */
const offsetsSeconds = [0, 0, 0.4, -0.4, -300, 3600, -3600, 86_400, 31_536_000] as const
const startUs = Date.UTC(2026, 0, 1) * 1000

export function runPowerLoss(seeds: number, firstSeed = 1): PowerLossResult {
  const figures = Object.fromEntries([...violationKeys, ...figureKeys].map(key => [key, 0]))
  const result = { ...figures, failedSeeds: [] } as unknown as PowerLossResult
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const violationsBefore = countViolations(result)
    runHistory(createRandom(seed), result)
    if (countViolations(result) > violationsBefore) result.failedSeeds.push(seed)
  }
  return result
}

export function countViolations(result: PowerLossResult): number {
  return violationKeys.reduce((sum, key) => sum + result[key], 0)
}

/** The wall clock of a history. It continues over restarts and is set occasionally. */
interface Clock {
  nowUs(): number
  /** Advances the clock, and occasionally sets it. */
  goOn(): void
}

function createClock(random: Random, result: PowerLossResult): Clock {
  let timeUs = startUs
  let offsetUs = 0
  return {
    nowUs: () => timeUs + offsetUs,
    goOn() {
      timeUs += random.below(random.pick([10, 200_000, 3 * secondUs]))
      if (!random.chance(0.02)) return
      offsetUs = random.pick(offsetsSeconds) * secondUs
      result.clockSteps++
    },
  }
}

interface History {
  attempts: Attempt[]
  /** Stamps of readable readings. The database may have them, whatever the disk has kept. */
  seen: Set<number>
  clock: Clock
  /** The disk has rejected the file of stamps, so the journal looks like one of an older version. */
  isOld: boolean
  random: Random
  result: PowerLossResult
}

function runHistory(random: Random, result: PowerLossResult): void {
  const clock = createClock(random, result)
  const history: History = { attempts: [], seen: new Set(), clock, isOld: false, random, result }
  const { attempts } = history
  let disk = createSimulatedDisk(random)
  const lives = 2 + random.below(6)
  for (let life = 0; life < lives; life++) {
    runLife(disk, history)
    result.resynced += disk.switches.resynced
    disk = disk.restart(random, random.chance(0.7) ? 'power cut' : 'kill')
    result.crashes++
    check(disk, history)
  }
  for (const { answer } of attempts) {
    if (answer === 'stored') result.acknowledged++
    else if (answer === 'full') result.refused++
    else result.unknown++
  }
}

/** One process: recovery, groups with disk errors, and a stop in the middle of an operation. */
function runLife(disk: SimulatedDisk, history: History): void {
  const { random, clock } = history
  const { switches } = disk
  switches.stopsIn = random.below(random.pick([10, 60, 200]))
  const faultShare = random.pick([0, 0, 0.02, 0.2])
  switches.fault = () => (random.chance(faultShare) ? new Error(random.pick(['EIO', 'ENOSPC'])) : undefined)
  try {
    const { end } = recoverJournal(disk)
    const { lastStampUs } = end
    if (lastStampUs > 0 && !disk.list().includes('stamps')) history.isOld = true
    const stamper = openStamper({ disk, lastStampUs, nowUs: clock.nowUs, log: silentLog })
    const segmentBytes = random.pick([700, 3000, 20_000])
    const writer = new SegmentWriter({ disk, end, reserveBytes: 1000, segmentBytes })
    const life: Life = { writer, stamper, switches, unread: [], followsClock: false }
    life.followsClock = faultShare === 0 && !history.isOld
    while (!switches.isStopped) {
      switches.free = random.chance(0.05) ? 500 : Number.MAX_SAFE_INTEGER
      commitGroup(life, history)
      if (random.chance(0.02)) writer.close()
    }
  } catch {
    // A start fails if recovery gets a disk error. The next one retries.
  }
}

interface Life {
  writer: SegmentWriter
  stamper: ClassStamper
  switches: SimulatedDisk['switches']
  followsClock: boolean
  /** Groups that may be in the journal, but must not be read yet. */
  unread: { group: Attempt[]; end: number }[]
}

function commitGroup(life: Life, { attempts, seen, clock, random, result }: History): void {
  const { writer, stamper, switches } = life
  const group: Attempt[] = []
  for (let count = random.below(random.pick([4, 30])); count >= 0; count--) {
    clock.goOn()
    const stampUs = stamper.next()
    if (switches.isStopped) return
    if (seen.has(stampUs)) result.restamped++
    if (life.followsClock && Math.abs(stampUs - clock.nowUs()) > secondUs + 100) result.offClock++
    // The temperature encodes the record's number in the history.
    const index = attempts.length + group.length
    group.push({ answer: 'open', record: records(device(index % 3), [index], stampUs), group: attempts.length })
  }
  attempts.push(...group)
  const receiptUs = clock.nowUs()
  const counts = { recordCount: group.length, backfillCount: 0 }
  const bytes = unsealed(Buffer.concat(group.map(({ record }) => record)))
  const { outcome, end } = writer.commit(bytes, { ...counts, receiptUs, lastStampUs: stamper.lastUs() })
  // The header of a group has its position.
  const groupEnd = bytes.length + new DataView(bytes.buffer).getFloat64(24, true)
  if (outcome !== 'full') life.unread.push({ group, end: groupEnd })
  for (const readable of life.unread.filter(unread => unread.end <= end)) {
    for (const attempt of readable.group) seen.add(timeOf(attempt))
  }
  life.unread = life.unread.filter(unread => unread.end > end)
  if (switches.isStopped) return
  for (const attempt of group) attempt.answer = outcome
}

const timeOf = ({ record }: Attempt) => record.readDoubleLE(8)

/** Compares the records that the next process reads with the answers. */
function check(disk: SimulatedDisk, { attempts, seen: stamps, result }: History): void {
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
    stamps.add(record.readDoubleLE(8))
    last = Math.max(last, index)
  }
  attempts.forEach(({ answer, group }, index) => {
    if (answer === 'stored' && !seen.has(index)) result.lost++
    if (seen.has(index) !== seen.has(group)) result.split++
  })
  settleOpen(attempts, seen)
}

/** Recovered records must be kept from now on. The others must not return. */
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
