import { test } from 'tap'
import { revisionSlots } from '../../ingest/forwarder/apply-tracker.ts'
import { isWhole, listDeadLetters } from '../../ingest/forwarder/dead-letters.ts'
import { Forwarder, type ForwarderOptions } from '../../ingest/forwarder/forwarder.ts'
import { type ForwarderStatus, statusAtStart } from '../../ingest/forwarder/forwarder-status.ts'
import { replayStart } from '../../ingest/forwarder/segment-retention.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { recoverJournal } from '../../ingest/journal/recovery.ts'
import { SegmentWriter } from '../../ingest/journal/segment-writer.ts'
import { listSegments, readCheckpoint } from '../../ingest/journal/segments.ts'
import { Tombstones } from '../../ingest/journal/tombstones.ts'
import { readings } from '../../ingest/readings-table.ts'
import { systemTiming } from '../../ingest/timing.ts'
import { silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'
import { device, records, unsealed } from '../support/journal-parts.ts'
import { waitFor } from '../support/wait-for.ts'
import { openFaultyDisk } from './faulty-disk.ts'
import { createSimulatedQuestdb, type SimulatedQuestdb } from './model/simulated-questdb.ts'

interface Entry {
  device: number
  timeUs: number
  temperature: number
  backfill: boolean
}

interface Rig {
  folder: string
  questdb: SimulatedQuestdb
  add(entries: Entry[], receiptUs?: number): void
  /** Adds groups of 20 readings each. Their times continue from the first number. */
  addGroups(count: number, first?: number): void
  start(options?: Partial<ForwarderOptions>): Forwarder
  status(): ForwarderStatus | undefined
  /** Waits until the condition holds. */
  until(condition: () => boolean): Promise<void>
  allApplied(): boolean
  /** The end of the journal. */
  end(): number
}

function createRig(t: TestHooks, segmentBytes = 1024 * 1024): Rig {
  const folder = temporaryFolder(t)
  const disk = openDisk(folder)
  const questdb = createSimulatedQuestdb()
  const writer = new SegmentWriter({ disk, end: recoverJournal(disk).end, reserveBytes: 0, segmentBytes })
  t.teardown(() => writer.close())
  let end = 0
  let last: ForwarderStatus | undefined
  function add(entries: Entry[], receiptUs = 1): void {
    const body = Buffer.concat(entries.map(e => records(device(e.device), [e.temperature], e.timeUs, e.backfill)))
    const backfillCount = entries.filter(entry => entry.backfill).length
    const group = { recordCount: entries.length, backfillCount, receiptUs, lastStampUs: 1 }
    end = writer.commit(unsealed(body), group).end
  }
  return {
    folder,
    questdb,
    add,
    addGroups(count, first = 0) {
      for (let index = first; index < first + count; index++) add(entriesOf(20, 3, 100 * index))
    },
    start(options = {}) {
      const forwarder = new Forwarder({
        table: readings,
        disk,
        connections: Array.from({ length: 4 }, () => questdb.connect()),
        requestBytes: 4096,
        durableEnd: () => end,
        from: readCheckpoint(disk, end),
        endOrdinal: 0,
        paceMs: 0,
        quiesceMs: 0,
        predecessorMs: 0,
        letterId: position => position,
        isSynced: questdb.commitMode === 'sync',
        customSeries: new Uint32Array(),
        keepMs: 3_600_000,
        keepBytesMax: 1e9,
        revisions: new Int32Array(revisionSlots),
        nowMs: Date.now,
        timing: systemTiming,
        log: silentLog,
        onSent: () => undefined,
        onStatus: status => {
          last = status
        },
        ...options,
      })
      t.teardown(() => forwarder.close())
      forwarder.run()
      return forwarder
    },
    status: () => last,
    until: condition => waitFor(String(condition), condition),
    allApplied: () => last?.applied === end && end > 0,
    end: () => end,
  }
}

function entriesOf(count: number, devices: number, afterUs = 0): Entry[] {
  return Array.from({ length: count }, (_, index) => ({
    device: index % devices,
    timeUs: 1_000_000 + afterUs + index,
    temperature: index,
    backfill: false,
  }))
}

/** One that comes after those. */
const later: Entry = { device: 9, timeUs: 9_000_001, temperature: 1, backfill: false }

test('the times of one device arrive in order', async t => {
  const rig = createRig(t)
  rig.addGroups(50)
  let requests = 0
  rig.questdb.answer = () =>
    ++requests % 3 === 0 ? { kind: 'failed', status: undefined, message: 'reset' } : undefined
  rig.start()
  await rig.until(rig.allApplied)
  const last = new Map<string, number>()
  for (const row of rig.questdb.taken.flat()) {
    if (row.timeUs <= (last.get(row.device) ?? 0)) t.fail(`${row.device} went back to ${row.timeUs}`)
    last.set(row.device, row.timeUs)
  }
  t.equal(rig.questdb.taken.flat().length, 1000)
})

test('a new group wakes the idle lanes and the poller, and an erase wakes the lanes', async t => {
  const rig = createRig(t)
  /** Long timers never fire. */
  const after = (ms: number, work: () => void) => (ms < 500 ? systemTiming.after(ms, work) : () => undefined)
  let moved = Promise.withResolvers<void>()
  let waits = 0
  const untilEndMoves = () => {
    waits++
    return moved.promise
  }
  const forwarder = rig.start({ untilEndMoves, timing: { ...systemTiming, after } })
  for (const backfill of [false, true]) {
    await rig.until(() => waits > 0)
    waits = 0
    rig.add([
      { ...later, backfill },
      { ...later, device: 8 },
    ])
    moved.resolve()
    moved = Promise.withResolvers()
    await rig.until(rig.allApplied)
  }
  t.strictSame(await forwarder.erase([9], rig.end()), [])
})

test('a row that is rejected for its own content becomes a dead letter without the others', async t => {
  for (const kind of ['refused', 'failed'] as const) {
    const rig = createRig(t)
    rig.questdb.answer = rows => {
      if (!rows.some(row => row.values['temperature'] === 13)) return undefined
      return kind === 'refused' ? { kind, message: 'bad value' } : { kind, status: 500, message: 'internal error' }
    }
    rig.add(entriesOf(100, 5))
    rig.start()
    await rig.until(rig.allApplied)
    t.equal(rig.questdb.table().size, 99, kind)
    const [letter, ...others] = (await listDeadLetters(readings, rig.folder, -1, 10)).filter(isWhole)
    t.equal(others.length, 0)
    t.match(letter, { symbol: 'device-3', values: { temperature: 13, battery_voltage: null } })
    t.match(letter?.reason, kind === 'refused' ? /bad value/ : /internal error/)
  }
})

test('a row alone that meets a 5xx waits until others pass', async t => {
  const rig = createRig(t)
  rig.questdb.answer = rows =>
    rows.some(row => row.values['temperature'] === 13) ? { kind: 'failed', status: 500, message: 'broken' } : undefined
  rig.add([{ device: 1, timeUs: 1_000_001, temperature: 13, backfill: false }])
  rig.start()
  await rig.until(() => rig.questdb.offered > 3)
  t.strictSame(await listDeadLetters(readings, rig.folder, -1, 10), [], 'it may be the server that is broken')
  rig.add(entriesOf(10, 5))
  await rig.until(rig.allApplied)
  t.equal((await listDeadLetters(readings, rig.folder, -1, 10)).length, 1)
  t.equal(rig.questdb.table().size, 10)
})

test('an outage and a broken table make no dead letters', async t => {
  const rig = createRig(t)
  rig.add(entriesOf(50, 5))
  rig.questdb.answer = () => ({ kind: 'failed', status: 500, message: 'no space left on device' })
  rig.start()
  await rig.until(() => rig.questdb.offered > 3)
  rig.questdb.columns = ['ts', 'device']
  rig.questdb.answer = () => ({ kind: 'refused', message: 'creating new columns is disabled' })
  await rig.until(() => /lacks temperature/.test(rig.status()?.issue ?? ''))
  rig.questdb.columns = ['ts', 'device', 'temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage']
  rig.questdb.answer = () => undefined
  await rig.until(rig.allApplied)
  t.strictSame(await listDeadLetters(readings, rig.folder, -1, 10), [])
  t.equal(rig.questdb.table().size, 50)
  t.equal(rig.status()?.issue, undefined)
})

test('a late batch waits until the last but one is applied, and live readings do not', async t => {
  const rig = createRig(t)
  const entryOf = (number: number, backfill: boolean) => [
    { device: 1, timeUs: number * 1_000_000, temperature: number, backfill },
  ]
  const taken = () => rig.questdb.taken.flat().map(row => row.values['temperature'])
  rig.questdb.holdsApply = true
  const forwarder = rig.start()
  for (const number of [1, 2]) {
    rig.add(entryOf(number, true))
    await rig.until(() => taken().length === number)
  }
  rig.add([...entryOf(3, true), ...entryOf(100, false)])
  await rig.until(() => taken().length === 3)
  rig.add(entryOf(101, false))
  await rig.until(() => taken().length === 4)
  t.strictSame(taken(), [1, 2, 100, 101])
  // Work that needs both lanes idle does not wait for it.
  await forwarder.erase([2], rig.end())
  rig.questdb.holdsApply = false
  await rig.until(rig.allApplied)
  t.strictSame(taken(), [1, 2, 100, 101, 3])
  // The table has lost sent rows. The forwarder does not wait for them.
  rig.questdb.holdsApply = true
  for (const number of [4, 5]) {
    rig.add(entryOf(number, true))
    await rig.until(() => taken().length === number + 2)
  }
  rig.add(entryOf(6, true))
  const asked = rig.questdb.asked
  await rig.until(() => rig.questdb.asked > asked + 2)
  t.equal(taken().length, 7)
  rig.questdb.lose(2)
  rig.questdb.holdsApply = false
  await rig.until(rig.allApplied)
  t.equal(rig.questdb.table().size, 8)
})

test('a table suspended for a known cause is resumed repeatedly, for an unknown one only by an operator', async t => {
  const rig = createRig(t)
  const [rolledBack, full] = ['[0] bulk update failed and will be rolled back', '[28] No space left on device']
  rig.questdb.suspended = { message: full }
  rig.add(entriesOf(10, 2))
  // A clock on which half a minute passes in a moment.
  rig.start({ timing: { ...systemTiming, monotonicMs: () => performance.now() * 300 } })
  for (let times = 1; times <= 3; times++) {
    await rig.until(() => rig.questdb.resumed === times)
    if (times < 3) rig.questdb.suspended = { message: times === 1 ? rolledBack : full }
  }
  await rig.until(rig.allApplied)
  t.equal(rig.questdb.table().size, 10)
  rig.questdb.suspended = { message: 'table is corrupt' }
  rig.addGroups(1, 5)
  await rig.until(() => rig.status()?.suspended === true)
  const asked = rig.questdb.asked
  await rig.until(() => rig.questdb.asked > asked + 2)
  t.equal(rig.questdb.resumed, 3)
})

test('a journal that cannot be read for a while is reported before it continues', async t => {
  const rig = createRig(t)
  const { disk, faults } = openFaultyDisk(rig.folder)
  let fails = false
  const before = (): undefined => {
    if (fails) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' })
    return undefined
  }
  rig.start({ disk: { ...disk, list: () => (before() ?? disk).list() } })
  faults.before = before
  fails = true
  rig.add(entriesOf(50, 5))
  await rig.until(() => /EMFILE/.test(rig.status()?.fileIssue ?? ''))
  t.equal(rig.questdb.table().size, 0)
  fails = false
  await rig.until(rig.allApplied)
  t.equal(rig.questdb.table().size, 50)
})

test('a rejected row does not count as an outage of a QuestDB without sync', async t => {
  const rig = createRig(t)
  rig.questdb.answer = rows =>
    rows.some(row => row.values['temperature'] === 13) ? { kind: 'refused', message: 'bad value' } : undefined
  rig.add(entriesOf(100, 5))
  rig.questdb.commitMode = 'nosync'
  rig.start()
  await rig.until(rig.allApplied)
  const taken = rig.questdb.taken.length
  rig.add([later])
  await rig.until(() => rig.questdb.table().size === 100)
  t.equal(rig.questdb.taken.length, taken + 1, 'nothing was sent again')
})

test('a restart goes on where the forwarder was', async t => {
  const rig = createRig(t)
  rig.add(entriesOf(50, 5))
  const first = rig.start()
  await rig.until(rig.allApplied)
  await first.close()
  await first.close()
  rig.add([later])
  const before = rig.questdb.taken.length
  rig.start()
  await rig.until(() => rig.questdb.taken.length === before + 1)
  t.match(rig.questdb.taken.at(-1), [{ device: 'device-9' }])
})

test('a damaged group is quarantined and logged before the next group is sent', async t => {
  const rig = createRig(t)
  rig.add(entriesOf(3, 3))
  rig.add(entriesOf(4, 4, 100))
  const disk = openDisk(rig.folder)
  const file = disk.open('0000000000000000.journal', false)
  file.write(Buffer.from([0xff, 0xff]), 140)
  file.close()
  rig.start()
  await rig.until(rig.allApplied)
  t.equal(rig.questdb.table().size, 4)
  t.ok((rig.status()?.damagedBytes ?? 0) > 100)
  t.ok(disk.list().some(name => name.endsWith('.middle')))
})

test('readings wait since they were received, also the first of a segment', async t => {
  const rig = createRig(t, 400)
  rig.questdb.holdsApply = true
  rig.add(entriesOf(3, 1), 5_000_000)
  const atStart = statusAtStart(openDisk(rig.folder), { position: 1_000_000, ordinal: 3 })
  t.equal(atStart.pendingSinceUs, 5_000_000, 'before QuestDB is there')
  const forwarder = rig.start()
  await rig.until(() => rig.status()?.pendingSinceUs !== undefined)
  t.equal(rig.status()?.pendingSinceUs, 5_000_000)
  rig.questdb.holdsApply = false
  await rig.until(rig.allApplied)
  rig.questdb.holdsApply = true
  // The next segment is opened for these, after a rest.
  rig.add(entriesOf(3, 1), 95_000_000)
  await rig.until(() => rig.status()?.pendingSinceUs !== undefined)
  t.equal(rig.status()?.pendingSinceUs, 95_000_000)
  rig.questdb.holdsApply = false
  await forwarder.close()
})

test('an erase waits for the batch in flight', async t => {
  const rig = createRig(t)
  let isHeld = true
  rig.questdb.answer = () => (isHeld ? { kind: 'failed', status: 503, message: 'busy' } : undefined)
  rig.add(entriesOf(20, 2))
  const forwarder = rig.start()
  await rig.until(() => rig.status()?.issue !== undefined)
  let erased = false
  const erasing = forwarder.erase([1], rig.end()).then(() => {
    erased = true
  })
  await new Promise(resolve => setTimeout(resolve, 300))
  t.equal(erased, false)
  isHeld = false
  await erasing
  const taken = rig.questdb.taken.length
  rig.addGroups(1, 10)
  await rig.until(rig.allApplied)
  t.ok(rig.questdb.taken.length > taken)
})

test('a tombstone goes with the last segment that it is for', async t => {
  const rig = createRig(t, 2000)
  rig.questdb.holdsApply = true
  rig.addGroups(5)
  const forwarder = rig.start()
  await forwarder.erase([1], rig.end())
  const tombstones = () => new Tombstones(openDisk(rig.folder))
  t.equal(tombstones().covers(1, rig.end() - 1), true)
  t.equal(tombstones().covers(1, rig.end()), false)
  rig.addGroups(5, 5)
  rig.questdb.holdsApply = false
  await rig.until(rig.allApplied)
  await rig.until(() => tombstones().before === 0)
  t.equal((rig.status()?.start ?? 0) > 0, true)
})

test('a damaged list of tombstones is not taken for an empty one', async t => {
  const rig = createRig(t)
  openDisk(rig.folder).replace('erased', Buffer.from('[[1,'))
  t.throws(() => new Tombstones(openDisk(rig.folder)), /is damaged/)
})

test('a segment that cannot be removed is reported and retried without sending its rows again', async t => {
  const rig = createRig(t, 2000)
  rig.questdb.commitMode = 'nosync'
  rig.addGroups(10)
  const disk = openDisk(rig.folder)
  let fails = true
  const remove = (name: string) => {
    if (fails) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'rm' })
    disk.remove(name)
  }
  rig.start({ disk: { ...disk, remove }, keepBytesMax: 0 })
  await rig.until(() => /cannot trim the journal: EMFILE/.test(rig.status()?.fileIssue ?? ''))
  await rig.until(rig.allApplied)
  const taken = rig.questdb.taken.length
  await new Promise(resolve => setTimeout(resolve, 2500))
  t.equal(rig.questdb.taken.length, taken)
  t.equal(rig.status()?.issue, undefined, 'QuestDB has none')
  fails = false
  await rig.until(() => listSegments(disk).length === 1)
  await rig.until(() => rig.status()?.fileIssue === undefined)
  t.equal(rig.questdb.taken.length, taken)
})

test('how far it came is on the disk soon after the traffic has stopped', async t => {
  const rig = createRig(t)
  rig.start()
  for (let index = 0; index < 5; index++) {
    rig.addGroups(1, index)
    await rig.until(rig.allApplied)
  }
  await rig.until(() => readCheckpoint(openDisk(rig.folder), rig.end()) === rig.end())
  t.pass('nothing has closed it')
})

test('each segment is kept for its time after it was applied, counted while a process runs, over restarts', async t => {
  const rig = createRig(t, 2000)
  rig.questdb.commitMode = 'nosync'
  const clock = { ms: Date.now() }
  const hourMs = 3_600_000
  const timing = { ...systemTiming, monotonicMs: () => performance.now() + clock.ms }
  const options = { keepMs: 24 * hourMs, timing }
  /** Advances the clock and waits until the poller has seen that time has passed, and written the ages. */
  const run = async (ms: number) => {
    clock.ms += ms
    await new Promise(resolve => setTimeout(resolve, 1500))
  }
  const segments = () => listSegments(openDisk(rig.folder))
  rig.addGroups(10)
  const first = rig.start(options)
  await rig.until(rig.allApplied)
  const kept = segments()
  t.ok(kept.length > 3)
  await run(23.5 * hourMs)
  await first.close()
  clock.ms += 365 * 24 * hourMs
  const second = rig.start({ ...options, from: replayStart({ disk: openDisk(rig.folder), ...options }, rig.end()) })
  await rig.until(rig.allApplied)
  t.strictSame(segments(), kept, 'not yet')
  await run(0.75 * hourMs)
  t.strictSame(segments(), kept, 'what is sent again is kept for an hour more')
  await second.close()
  const from = replayStart({ disk: openDisk(rig.folder), ...options }, rig.end())
  t.equal(from, kept[0], 'for a day it is sent again after a start')
  const offered = rig.questdb.offered
  rig.start({ ...options, from })
  await rig.until(() => rig.questdb.offered > offered && rig.allApplied())
  await run(0)
  clock.ms += 1.25 * hourMs
  await rig.until(() => segments().length === 1)
  t.pass('and goes')
})

test('a QuestDB that comes back in another mode is treated by that one', async t => {
  const rig = createRig(t, 2000)
  const segments = () => listSegments(openDisk(rig.folder)).length
  rig.addGroups(2)
  rig.start()
  await rig.until(rig.allApplied)
  rig.questdb.away = true
  rig.addGroups(2, 2)
  await rig.until(() => rig.status()?.issue !== undefined)
  rig.questdb.commitMode = 'nosync'
  rig.questdb.away = false
  rig.addGroups(6, 4)
  await rig.until(rig.allApplied)
  t.equal(rig.status()?.isSynced, false)
  t.ok(segments() > 2, 'what is applied is kept')
  rig.questdb.away = true
  rig.questdb.lose(2)
  rig.addGroups(2, 10)
  await rig.until(() => rig.status()?.issue !== undefined)
  rig.questdb.commitMode = 'sync'
  rig.questdb.away = false
  await rig.until(() => rig.questdb.table().size === 240)
  await rig.until(() => segments() === 1)
  t.equal(rig.status()?.isSynced, true, 'what was lost was sent again, and nothing is kept any more')
})

test('a query that failed leaves no issue when it succeeds again, also when nothing is sent any more', async t => {
  const rig = createRig(t)
  let failures = 0
  let isFailing = true
  const connections = Array.from({ length: 4 }, () => {
    const connection = rig.questdb.connect()
    async function query(sql: string) {
      if (!isFailing || rig.questdb.taken.flat().length < 20 || !sql.includes('wal_tables'))
        return await connection.query(sql)
      failures++
      throw new Error('no answer')
    }
    return { ...connection, query }
  })
  rig.addGroups(1)
  rig.start({ connections })
  // By then, a request in flight whose success would end the issue is impossible.
  await rig.until(() => failures > 1 && rig.status()?.issue === 'no answer')
  isFailing = false
  await rig.until(() => rig.allApplied() && rig.status()?.issue === undefined)
  t.equal(rig.questdb.table().size, 20)
})
