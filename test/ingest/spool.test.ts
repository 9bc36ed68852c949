/** The forwarder's reads of a topic with any contents and any restarts. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { statusBefore } from '../../ingest/forwarder/forwarder-status.ts'
import { SegmentRetention } from '../../ingest/forwarder/segment-retention.ts'
import type { CommitMode } from '../../ingest/forwarder/table-state.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { type GroupHeader, groupHeaderLength } from '../../ingest/journal/group.ts'
import { isBackfill, liveWindowUs, offsetOf } from '../../ingest/journal/record.ts'
import { type Chunk, SegmentReader } from '../../ingest/journal/segment-reader.ts'
import { listSegments, segmentName } from '../../ingest/journal/segments.ts'
import type { Tombstones } from '../../ingest/journal/tombstones.ts'
import { KafkaAway } from '../../ingest/kafka/client/errors.ts'
import { Spool, type SpoolOptions } from '../../ingest/kafka/consume/spool.ts'
import { SpoolOffsets } from '../../ingest/kafka/consume/spool-offsets.ts'
import { openSpoolSource } from '../../ingest/kafka/consume/spool-source.ts'
import { DamagedGroups, letterId } from '../../ingest/kafka/produce/group.ts'
import type { SpoolStatus } from '../../ingest/kafka/state/forward-status.ts'
import { readings } from '../../ingest/readings-table.ts'
import { Sleeper, type Timing } from '../../ingest/timing.ts'
import { recordingLog, silentLog, temporaryFolder } from '../support/databases.ts'
import { device, records } from '../support/journal-parts.ts'
import { runs } from '../support/runs.ts'
import { TopicContent, topicGroup } from './topic-content.ts'

/** Sleeps are over at once. */
const timing: Timing = {
  monotonicMs: () => 0,
  random: () => 0,
  after(_, work) {
    const pending = setImmediate(work)
    return () => clearImmediate(pending)
  },
}

type Opened = ReturnType<typeof openSpool>

let folders = 0
const folder = temporaryFolder(t)

function openSpool(topic: TopicContent, from: number | undefined, more: Partial<SpoolOptions> = {}) {
  const disk = openDisk(join(folder, `spool-${++folders}`), false)
  const sleeper = new Sleeper(timing)
  const erased = new Set(more.erased)
  const damagedDisk = openDisk(join(folder, `damaged-${folders}`), false)
  const damaged = new DamagedGroups({ topic: 'topic', disk: damagedDisk, log: more.log ?? silentLog })
  const aging = { appliedBefore: undefined, segmentMs: Number.POSITIVE_INFINITY, monotonicMs: () => 0 }
  const bounds = { bytesMax: 64 * 1024, reserveBytes: 0, ...aging }
  const parts = { topic: 'topic', table: readings, disk, damaged, sleeper, log: silentLog }
  const spool = new Spool({ ...bounds, ...parts, from, open: () => Promise.resolve(topic), ...more, erased })
  const running = spool.run()
  async function close(): Promise<void> {
    sleeper.stop()
    await running
  }
  return { spool, erased, damaged, disk, close }
}

/** Waits until nothing is fetched for a while. */
async function settle({ spool }: Opened): Promise<void> {
  for (let turns = 0, end = -1, next = -1; turns < 8; turns++) {
    if (end !== spool.end || next !== (spool.reader.next ?? 0)) turns = 0
    end = spool.end
    next = spool.reader.next ?? 0
    await turn()
  }
}

interface ReadRecord {
  id: number
  position: number
  /** The end of its group. */
  groupEnd: number
  receiptUs: number
  isLate: boolean
  series: number
  timeUs: number
  bytes: string
}

/** All records of the spool from a position on, in their order. */
function readSpool({ spool, disk }: Opened, from: number): ReadRecord[] {
  const reader = new SegmentReader(disk)
  const found: ReadRecord[] = []
  for (let at = from; at < spool.end; ) {
    const chunk = reader.read(at, spool.end)
    if (chunk.damaged.length > 0) throw new Error('the spool is damaged')
    for (const group of chunk.groups) found.push(...recordsIn(chunk, group))
    if (chunk.next === at) break
    at = chunk.next
  }
  reader.close()
  return found
}

function recordsIn(chunk: Chunk, group: GroupHeader): ReadRecord[] {
  const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.length)
  const groupEnd = group.position + groupHeaderLength + group.bodyLength
  const found: ReadRecord[] = []
  for (let position = group.position + groupHeaderLength; position < groupEnd; ) {
    const offset = position - chunk.position
    const length = view.getUint16(offset, true)
    const bytes = Buffer.from(chunk.bytes.subarray(offset, offset + length))
    bytes[offsetOf.flags] = 0
    found.push({
      id: group.lastStampUs + found.length,
      position,
      groupEnd,
      receiptUs: group.receiptUs,
      isLate: isBackfill(view, offset),
      series: view.getUint32(offset + offsetOf.series, true),
      timeUs: view.getFloat64(offset + offsetOf.timeUs, true),
      bytes: bytes.toString('base64'),
    })
    position += length
  }
  const late = found.filter(({ isLate }) => isLate).length
  if (found.length !== group.recordCount || late !== group.backfillCount) throw new Error('a group has other counts')
  return found
}

/** The forwarder trims everything before the applied position. */
function trim({ spool, disk }: Opened, applied: number): void {
  const starts = listSegments(disk)
  let [start = 0] = starts
  for (let index = 0; index + 1 < starts.length && (starts[index + 1] as number) <= applied; index++) {
    disk.remove(segmentName(starts[index] as number))
    start = starts[index + 1] as number
  }
  spool.trimmed(start)
}

/** A device, and a time in ms after the append. A late one goes to the backfill lane. */
interface Entry {
  series: number
  isOfErased: boolean
  atMs: number
}
type Step =
  | { kind: 'group'; entries: Entry[]; stepMs: number }
  | { kind: 'damage'; how: 'noise' | 'flip' | 'cut' | 'kind' }
  | { kind: 'erase'; series: number[] }
  | { kind: 'apply'; share: number }
  | { kind: 'restart' }
  | { kind: 'retention' }
  | { kind: 'pause' }

const seriesMax = 5
const entriesMax = 40
/** Large enough for the group that opens a segment. */
const groupBytesMax = 2 * groupHeaderLength + entriesMax * 80
const times = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -1000, max: 1000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -400_000, max: -200_000 }) },
)
const anySeries = fc.integer({ min: 1, max: seriesMax })
const entry: fc.Arbitrary<Entry> = fc.record({ series: anySeries, isOfErased: fc.boolean(), atMs: times })
const entries = fc.array(entry, { maxLength: entriesMax, size: 'max' })
const group = fc.record({ entries, stepMs: fc.integer({ min: -20_000, max: 100_000 }) })
const ways = fc.constantFrom('noise' as const, 'flip' as const, 'cut' as const, 'kind' as const)
const erasedSeries = fc.uniqueArray(anySeries, { minLength: 1, maxLength: 2 })
const anyShare = fc.double({ min: 0, max: 1, noNaN: true })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: group.map((given): Step => ({ kind: 'group', ...given })) },
  { weight: 1, arbitrary: ways.map((how): Step => ({ kind: 'damage', how })) },
  { weight: 1, arbitrary: erasedSeries.map((series): Step => ({ kind: 'erase', series })) },
  { weight: 5, arbitrary: anyShare.map((share): Step => ({ kind: 'apply', share })) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'restart' }, { kind: 'retention' }, { kind: 'pause' }) },
)

class Model {
  readonly topic = new TopicContent()
  /** Every record of the topic that is one, by its id. */
  readonly #expected = new Map<number, { bytes: string; series: number; timeUs: number; appendedMs: number }>()
  readonly #erased = new Set<number>()
  /** Erasures of each series. Later series reuse its place under new numbers. */
  readonly #erasures = new Map<number, number>()
  /** End positions in the spool by erased series. */
  #erasedUpTo = new Map<number, number>()
  /** Applied by any process. */
  readonly #applied = new Map<number, string>()
  #opened: Opened
  #appliedTo = 0
  #bytesMax: number
  #appendedMs = 1_700_000_000_000

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#opened = openSpool(this.topic, undefined, { bytesMax })
  }

  async run(step: Step): Promise<void> {
    if (step.kind === 'group') this.#append(step)
    else if (step.kind === 'damage') this.#appendDamaged(step.how)
    else if (step.kind === 'erase') this.#erase(step.series)
    else if (step.kind === 'apply') await this.#apply(step.share)
    else if (step.kind === 'restart') await this.#restart()
    else if (step.kind === 'retention') this.topic.start = Math.max(this.topic.start, this.#committed)
    else await settle(this.#opened)
  }

  /** Everything is applied, and the offset of the end is committed. */
  async end(): Promise<void> {
    for (let turns = 0; turns < 300 && this.#committed < this.topic.end; turns++) await this.#apply(1)
    if (this.#committed !== this.topic.end) throw new Error(`${this.#committed} of ${this.topic.end} are committed`)
    for (const [id, { bytes, series }] of this.#expected) {
      const applied = this.#applied.get(id)
      if (applied === undefined && !this.#erased.has(series)) throw new Error(`record ${id} is not there`)
      if (applied !== undefined && applied !== bytes) throw new Error(`record ${id} is another one`)
    }
  }

  close(): Promise<void> {
    return this.#opened.close()
  }

  get #committed(): number {
    return this.#opened.spool.offsetAt(this.#appliedTo) ?? 0
  }

  #append({ entries, stepMs }: Extract<Step, { kind: 'group' }>): void {
    this.#appendedMs += stepMs
    const offset = this.topic.end
    const parts = entries.map(({ series: given, isOfErased, atMs }, place) => {
      const series = this.#numberOf(given, isOfErased)
      const timeUs = (this.#appendedMs + atMs) * 1000
      const bytes = records(device(series), [offset + place / 100], timeUs)
      const expected = { bytes: bytes.toString('base64'), series, timeUs, appendedMs: this.#appendedMs }
      this.#expected.set(letterId(offset, place), expected)
      return bytes
    })
    this.topic.append(topicGroup(Buffer.concat(parts), entries.length), this.#appendedMs)
  }

  #appendDamaged(how: Extract<Step, { kind: 'damage' }>['how']): void {
    const body = records(device(1), [1, 2], 1)
    if (how === 'kind') body[offsetOf.kind] = 9
    const group = how === 'noise' ? randomBytes(100) : topicGroup(body, 2)
    if (how === 'flip') group[70] = (group[70] ?? 0) ^ 1
    this.topic.append(how === 'cut' ? group.subarray(0, 100) : group, this.#appendedMs)
  }

  #erase(series: number[]): void {
    for (const each of series) {
      const number = this.#numberOf(each, false)
      this.#erased.add(number)
      this.#opened.erased.add(number)
      this.#erasedUpTo.set(number, this.#opened.spool.end)
      this.#erasures.set(each, (this.#erasures.get(each) ?? 0) + 1)
    }
  }

  /** A record may come late of one that was erased last. */
  #numberOf(series: number, isOfErased: boolean): number {
    const erasures = this.#erasures.get(series) ?? 0
    return series + seriesMax * (isOfErased ? Math.max(0, erasures - 1) : erasures)
  }

  /** Applies a share of the forwarder's rows, up to the end of a group. */
  async #apply(share: number): Promise<void> {
    await settle(this.#opened)
    this.#checkBound()
    const { spool } = this.#opened
    const found = readSpool(this.#opened, this.#appliedTo)
    const ends = [...new Set(found.map(({ groupEnd }) => groupEnd))]
    const end = share === 1 ? spool.end : ends[Math.floor(share * ends.length)]
    if (end === undefined) return
    for (const [index, record] of found.entries()) {
      const before = found[index - 1]
      const isBehind = before === undefined || (before.id < record.id && before.receiptUs <= record.receiptUs)
      if (!isBehind) throw new Error(`record ${record.id} is out of order`)
      const isSent = this.#check(record)
      if (isSent && record.groupEnd <= end) this.#applied.set(record.id, record.bytes)
    }
    this.#appliedTo = end
    trim(this.#opened, end)
  }

  #checkBound(): void {
    const { spool, disk } = this.#opened
    const held = spool.end - (listSegments(disk)[0] ?? spool.end)
    // One group may lie there when the next one comes, also if each is larger than the whole limit.
    if (held > Math.max(this.#bytesMax, groupBytesMax) + groupBytesMax) throw new Error(`the spool holds ${held} bytes`)
  }

  /** True if the forwarder would send it. */
  #check({ id, series, timeUs, position, receiptUs, isLate }: ReadRecord): boolean {
    const { spool } = this.#opened
    const expected = this.#expected.get(id)
    if (expected === undefined) throw new Error(`record ${id} was not appended`)
    if (receiptUs < expected.appendedMs * 1000) throw new Error(`record ${id} came before it was appended`)
    if (isLate !== timeUs < receiptUs - liveWindowUs) throw new Error(`record ${id} is in the wrong lane`)
    // It reads files, so not of each.
    if (id % 8 === 3 && spool.letterId(position) !== id) throw new Error(`record ${id} has another id as a letter`)
    const isPassedOver = position < (this.#erasedUpTo.get(series) ?? 0)
    if (this.#erased.has(series) && !isPassedOver) throw new Error(`record ${id} is erased`)
    const next = spool.offsetAt(position) ?? 0
    if (letterId(next, 0) > id) throw new Error(`record ${id} is not applied, and ${next} would be committed`)
    return !isPassedOver
  }

  async #restart(): Promise<void> {
    const from = this.#committed
    await this.#opened.close()
    this.#erasedUpTo = new Map()
    this.#appliedTo = 0
    this.#opened = openSpool(this.topic, from, { erased: this.#erased, bytesMax: this.#bytesMax })
  }
}

t.test('reads equal the topic in its order, over restarts, erasures and a full spool', async () => {
  const anySteps = fc.array(step, { minLength: 1, maxLength: 80, size: 'max' })
  const bounds = fc.constantFrom(2 * 1024, 16 * 1024, 1024 * 1024)
  const property = fc.asyncProperty(anySteps, bounds, async (steps, bytesMax) => {
    const model = new Model(bytesMax)
    try {
      for (const each of steps) await model.run(each)
      await model.end()
    } finally {
      await model.close()
    }
  })
  // Shrinking a failure takes longer than a test may run.
  await fc.assert(property, { ...runs(6, 40), endOnFailure: true })
})

t.test('each applied group moves the offset, also in a large spool that is never empty', async t => {
  const topic = new TopicContent()
  for (let count = 0; count < 50; count++) topic.append(topicGroup(records(device(1), [count], count), 1), 1)
  const opened = openSpool(topic, 0, { bytesMax: 20 * 1024 ** 3 })
  await settle(opened)
  await opened.close()
  const offsets = readSpool(opened, 0).map(({ groupEnd }) => opened.spool.offsetAt(groupEnd))
  t.strictSame(
    offsets,
    offsets.map((_, index) => index + 1),
  )
})

interface GroupEnd {
  end: number
  next: number
}

/** Adds groups, and forgets those before one of the last now and then. Returns the groups that are kept. */
function fill(
  offsets: SpoolOffsets,
  steps: readonly { bytes: number; records: number; forgets: number }[],
): GroupEnd[] {
  let kept: GroupEnd[] = [{ end: 0, next: 0 }]
  for (const { bytes, records: count, forgets } of steps) {
    const { end, next } = kept.at(-1) as GroupEnd
    kept.push({ end: end + bytes, next: next + count })
    offsets.add(end + bytes, next + count)
    if (forgets > 2) continue
    kept = kept.slice(-1 - forgets)
    offsets.forget(kept[0]?.end ?? 0)
  }
  return kept
}

/** Groups before the end of this one that its offset leaves out. */
function behindAt(offsets: SpoolOffsets, kept: readonly GroupEnd[], { end }: GroupEnd): number {
  const offset = offsets.at(end)
  const exact = kept.findLast(group => group.end === end)?.next ?? 0
  if (offset > exact) throw new Error(`offset ${offset} is ahead of ${exact}`)
  return kept.filter(({ next }) => next > offset && next <= exact).length
}

t.test('an offset is never ahead of its position, and behind by a share of the groups that are kept', async () => {
  const entriesMax = 16
  const anyStep = fc.record({ bytes: fc.nat(3), records: fc.integer({ min: 1, max: 3 }), forgets: fc.nat(400) })
  const property = fc.property(fc.array(anyStep, { minLength: 1, maxLength: 400, size: 'max' }), steps => {
    const offsets = new SpoolOffsets(0, entriesMax)
    const kept = fill(offsets, steps)
    const behind = Math.max(...kept.map(group => behindAt(offsets, kept, group)))
    const isWhole = kept.length === steps.length + 1
    if (isWhole && behind > (6 * kept.length) / entriesMax) throw new Error(`behind by ${behind} of ${kept.length}`)
    // Few groups are kept, so each has an entry again.
    const { end, next } = kept.at(-1) as GroupEnd
    for (let times = 0; times < 10; times++) offsets.forget(end)
    const more = Array.from({ length: entriesMax / 2 }, (_, index) => ({
      end: end + 1 + index,
      next: next + 1 + index,
    }))
    for (const group of more) offsets.add(group.end, group.next)
    if (more.some(group => offsets.at(group.end) !== group.next)) throw new Error('a group has no entry')
  })
  fc.assert(property, runs(100, 2000))
})

t.test('a damaged group is kept and passed over, with an alarm', async t => {
  const topic = new TopicContent()
  const { log, texts } = recordingLog('error')
  const noise = randomBytes(50)
  topic.append(noise, 1)
  topic.append(topicGroup(records(device(1), [1], 1), 1), 1)
  const opened = openSpool(topic, 0, { log })
  await settle(opened)
  await opened.close()
  t.equal(readSpool(opened, 0).length, 1)
  t.equal(opened.damaged.count, 1)
  t.strictSame(texts, ['group in the topic corrupted; skipped'])
  const kept = openDisk(join(folder, `damaged-${folders}`), false)
  t.strictSame(kept.list(), ['topic-0000000000000000.damaged'])
  const file = kept.open(kept.list()[0] ?? '', false)
  const bytes = Buffer.alloc(file.size())
  file.read(bytes, 0)
  file.close()
  t.ok(bytes.equals(noise))
})

t.test('records that the topic has removed are not lost if QuestDB has them', async t => {
  const topic = new TopicContent()
  for (let count = 0; count < 5; count++) topic.append(topicGroup(records(device(1), [count], count), 1), 1)
  topic.start = 3
  for (const appliedBefore of [2, 3, 5]) {
    const lostGroups = appliedBefore < topic.start ? 1 : 0
    const { log, texts } = recordingLog('error')
    const opened = openSpool(topic, 1, { log, appliedBefore })
    await settle(opened)
    await settle(opened)
    await opened.close()
    t.equal(opened.spool.reader.lostGroups, lostGroups)
    t.equal(texts.length, lostGroups)
    t.equal(readSpool(opened, 0).length, 2)
  }
})

t.test('a segment ends by its age, so that the offset that is kept comes up with a topic of few groups', async t => {
  const topic = new TopicContent()
  const appendOne = () => topic.append(topicGroup(records(device(1), [1], 1), 1), 1)
  let nowMs = 0
  const opened = openSpool(topic, 0, { segmentMs: 100, monotonicMs: () => nowMs })
  const { spool, disk } = opened
  appendOne()
  await settle(opened)
  nowMs = 99
  appendOne()
  await settle(opened)
  t.equal(listSegments(disk).length, 1)
  const end = spool.end
  nowMs = 100
  while (spool.end === end) await turn()
  t.strictSame(listSegments(disk), [0, end], 'there is a next one that holds nothing')
  nowMs = 1000
  await settle(opened)
  t.equal(listSegments(disk).length, 2, 'and does not end')
  appendOne()
  appendOne()
  await settle(opened)
  t.equal(spool.offsetAt(end), 2)
  t.equal(spool.offsetAt(spool.end), 4)
  t.equal(readSpool(opened, 0).length, 4)
  disk.remove(segmentName(0))
  spool.trimmed(end)
  t.equal(spool.offsetAt(end), 2)
  nowMs = 1100
  while (listSegments(disk).length < 2) await turn()
  appendOne()
  await settle(opened)
  t.equal(spool.offsetAt(listSegments(disk)[1] ?? 0), 4)
  await opened.close()
  t.equal(readSpool(opened, end).length, 3)
})

t.test('a topic that ends before the forwarded offset is reported without a read', async t => {
  const topic = new TopicContent()
  topic.append(topicGroup(records(device(1), [1], 1), 1), 1)
  const { log, texts } = recordingLog('error')
  const opened = openSpool(topic, 5, { log })
  await settle(opened)
  t.equal(opened.spool.reader.endsAt, 1)
  t.strictSame(texts, ['the topic ends before the forwarded offset: it has lost groups, or was created again'])
  await opened.close()
  t.equal(opened.spool.end, 0)
})

t.test('while Kafka is down reads are retried, with one report each of begin and end', async t => {
  const topic = new TopicContent()
  topic.failure = new KafkaAway('no broker answers')
  const { log, texts } = recordingLog('warn')
  const opened = openSpool(topic, undefined, { log })
  await settle(opened)
  t.equal(opened.spool.issue, 'no broker answers')
  topic.append(topicGroup(records(device(1), [1], 1), 1), 1)
  topic.failure = undefined
  await settle(opened)
  await opened.close()
  t.equal(opened.spool.issue, undefined)
  t.equal(readSpool(opened, 0).length, 1)
  t.strictSame(texts, ['cannot read the topic, retrying'])
})

function openSource(topic: TopicContent, bytesMax: number, monotonicMs = timing.monotonicMs) {
  const statuses: SpoolStatus[] = []
  let isClosed = false
  const source = openSpoolSource({
    topic: 'topic',
    table: readings,
    disk: openDisk(join(folder, `source-${++folders}`), false),
    damagedDisk: openDisk(join(folder, `damaged-${folders}`), false),
    bytesMax,
    reserveBytes: 0,
    from: 0,
    appliedBefore: undefined,
    erased: [1],
    keepMs: 1000,
    predecessorMs: 0,
    isHeld: () => true,
    connect: () => ({
      partition: () => Promise.resolve(topic),
      close() {
        isClosed = true
      },
    }),
    timing: { ...timing, monotonicMs },
    log: silentLog,
    send: message => message.kind === 'status' && statuses.push(message.status),
  })
  return { source, statuses, isClosed: () => isClosed }
}

t.test('a successor starts with the kept records if QuestDB may lose applied rows', async t => {
  const topic = new TopicContent()
  const body = records(device(2), new Array<number>(150).fill(1), 1)
  for (let count = 0; count < 40; count++) topic.append(topicGroup(body, 150), 1)
  const { source, statuses, isClosed } = openSource(topic, 1024 * 1024)
  while (source.durableEnd() < 40 * body.length) await turn()
  const start = listSegments(source.disk)[2] ?? 0
  const applied = source.durableEnd()
  const status = { ...statusBefore('none'), applied, recorded: source.placeOf(applied), start }
  source.onStatus({ ...status, isSynced: false })
  source.onStatus({ ...status, isSynced: true })
  const [unsynced, synced] = statuses
  t.equal(unsynced?.committable, unsynced?.kept)
  t.ok((unsynced?.committable ?? 0) > 0 && (unsynced?.committable ?? 0) < (unsynced?.applied ?? 0))
  t.equal(synced?.committable, synced?.applied)
  source.close()
  t.ok(isClosed())
})

t.test(
  'the reported offset does not go back when more is fetched, also with too many groups for an entry each',
  async t => {
    const topic = new TopicContent()
    const group = topicGroup(records(device(2), [1], 1), 1)
    const groups = 65_538
    for (let count = 0; count < groups; count++) topic.append(group, 1)
    const { source, statuses } = openSource(topic, 1024 ** 3)
    const report = (applied: number) => {
      source.onStatus({ ...statusBefore('none'), applied, recorded: 0, rows: statuses.length, isSynced: true })
      return statuses.at(-1)
    }
    while (report(0)?.next !== groups) await turn()
    const applied = source.durableEnd()
    t.equal(report(applied)?.applied, groups)
    topic.append(group, 1)
    while (source.durableEnd() === applied) await turn()
    t.ok((source.placeOf(applied) ?? 0) < groups)
    t.equal(report(applied)?.applied, groups)
    t.equal(report(source.durableEnd())?.applied, groups + 1)
    source.close()
  },
)

t.test('kept records of a topic of few groups expire, even the newest', async t => {
  const topic = new TopicContent()
  for (let count = 0; count < 2; count++) topic.append(topicGroup(records(device(2), [1], 1), 1), 1)
  let nowMs = 0
  const monotonicMs = () => nowMs
  const { source, statuses } = openSource(topic, 1024 * 1024, monotonicMs)
  const { disk } = source
  const commitMode = { isSynced: false } as CommitMode
  const tombstones = { prune: () => undefined } as unknown as Tombstones
  const kept = { keepMs: 1000, keepBytesMax: 1024 * 1024, commitMode, tombstones }
  const retention = new SegmentRetention({ disk, ...kept, timing: { ...timing, monotonicMs }, log: silentLog }, 0)
  async function at(ms: number) {
    nowMs = ms
    for (let turns = 0; turns < 20; turns++) await turn()
    const applied = source.durableEnd()
    retention.trim(applied)
    const recorded = source.placeOf(applied)
    source.onStatus({ ...statusBefore('none'), applied, recorded, start: retention.start, isSynced: false })
    const { applied: appliedOffset, committable } = statuses.at(-1) as SpoolStatus
    return [appliedOffset, committable]
  }
  while (statuses.at(-1)?.next !== 2) await at(0)
  t.strictSame(await at(100), [2, 0])
  t.strictSame(await at(125), [2, 0], 'the segment ends, and its time begins')
  t.equal(listSegments(disk).length, 2)
  t.strictSame(await at(1124), [2, 0])
  t.strictSame(await at(1125), [2, 2])
  source.close()
})

t.test('records that are erased before the fetch do not enter the spool', async t => {
  const topic = new TopicContent()
  const both = () => topicGroup(Buffer.concat([records(device(1), [1], 1), records(device(2), [2], 1)]), 2)
  for (let count = 0; count < 3; count++) topic.append(both(), 1)
  const { source, statuses } = openSource(topic, 1024 * 1024)
  t.equal(source.erase([1], 2), 0, 'nothing is in the spool')
  while (statuses.at(-1)?.next !== 3) {
    await turn()
    source.onStatus({ ...statusBefore('none'), recorded: source.placeOf(0), rows: statuses.length })
  }
  source.close()
  const reader = new SegmentReader(source.disk)
  const chunk = reader.read(0, source.durableEnd())
  reader.close()
  const series = chunk.groups.flatMap(group => recordsIn(chunk, group).map(record => record.series))
  t.strictSame(series, [2, 2, 2])
})
