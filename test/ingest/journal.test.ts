import { test } from 'tap'
import { openDisk } from '../../ingest/journal/disk.ts'
import type { JournalThreadMessage } from '../../ingest/journal/journal-shared.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { SegmentReader } from '../../ingest/journal/segment-reader.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, reading, readReading, records } from '../support/journal-parts.ts'
import { openTestJournal, type ReadingJournal } from './test-journal.ts'

const hourUs = 3_600_000_000

function append(journal: ReadingJournal, temperature: number, timestampMs?: number): Promise<Outcome> {
  return new Promise(resolve => journal.append(device(1), reading(temperature, timestampMs), resolve))
}

/** All records of the journal, in order. */
function readAll(directory: string, journal: ReadingJournal) {
  const reader = new SegmentReader(openDisk(directory))
  const found = []
  const end = journal.status().end
  for (let position = 0; position < end; ) {
    const chunk = reader.read(position, end)
    const view = new DataView(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.byteLength)
    for (const group of chunk.groups) {
      let offset = group.position - chunk.position + 56
      for (let index = 0; index < group.recordCount; index++) {
        found.push(readReading(view, offset))
        offset += view.getUint16(offset, true)
      }
    }
    if (chunk.next === position) break
    position = chunk.next
  }
  reader.close()
  return found
}

test('a reserved stamp is given to no other record, also after a restart with a clock that is behind', async t => {
  const directory = temporaryFolder(t)
  const nowUs = 1_800_000_000_000_000
  const first = openTestJournal(t, directory, { nowUs: () => nowUs })
  const reserved = await first.reserveStampsUs(3)
  await first.close()
  t.ok(Array.isArray(reserved))
  const second = openTestJournal(t, directory, { nowUs: () => nowUs })
  await append(second, 1)
  const [{ timeUs } = { timeUs: 0 }] = readAll(directory, second)
  t.ok(timeUs > Math.max(...(reserved as number[])), `${timeUs} is behind ${reserved}`)
  await second.close()
  t.equal(await second.reserveStampsUs(1), 'closing')
})

test('neither a record with a reserved stamp nor a reservation waits for bulk data', async t => {
  const directory = temporaryFolder(t)
  const journal = openTestJournal(t, directory)
  const [stampUs] = (await journal.reserveStampsUs(1)) as [number]
  const order: string[] = []
  const note = (what: string) => (outcome: unknown) => void order.push(`${what} ${outcome}`)
  // Each piece has more than half of a group's share for bulk data, so that only the first one goes at once.
  const piece = records(device(2), Array<number>(9_000).fill(1), stampUs + 1)
  const pieces = [1, 2, 3].map(number => journal.appendRecords(piece).then(note(`piece ${number}`)))
  const single = new Promise<Outcome>(resolve => journal.append(device(1), reading(7), resolve, stampUs))
  await Promise.all([
    ...pieces,
    single.then(note('single')),
    journal.reserveStampsUs(2).then(stamps => note('reserved')(stamps.length)),
  ])
  t.strictSame(order.slice(0, 3).toSorted(), ['piece 1 stored', 'reserved 2', 'single stored'], 'of the first group')
  const [found] = readAll(directory, journal).filter(({ deviceNumber }) => deviceNumber === 1)
  t.match(found, { timeUs: stampUs, isBackfill: false })
})

test('readings of one turn share a sync and each get an answer', async t => {
  const journal = openTestJournal(t, temporaryFolder(t))
  const outcomes = await Promise.all(Array.from({ length: 500 }, (_, index) => append(journal, index)))
  t.ok(outcomes.every(outcome => outcome === 'stored'))
  t.equal(journal.status().records, 500)
  t.ok(journal.status().groups < 5, `${journal.status().groups} groups`)
})

test('the lanes of a group are chosen by one receipt time, which its header has', async t => {
  const folder = temporaryFolder(t)
  const clock = { us: Date.UTC(2026, 0, 1) * 1000 }
  const journal = openTestJournal(t, folder, { nowUs: () => clock.us })
  const atMs = clock.us / 1000
  const late = append(journal, 1, atMs - 400_000)
  clock.us -= hourUs
  await Promise.all([late, append(journal, 2, atMs - 400_000)])
  await append(journal, 3, atMs - 400_000)
  await journal.close()
  t.match(readAll(folder, journal), [{ isBackfill: true }, { isBackfill: true }, { isBackfill: false }])
  const reader = new SegmentReader(openDisk(folder))
  const groups = reader.read(0, journal.status().end).groups.filter(group => group.recordCount > 0)
  reader.close()
  t.match(groups, [{ receiptUs: atMs * 1000 }, { receiptUs: clock.us }])
})

test('a full journal rejects a body as a whole until it is trimmed', async t => {
  const journal = openTestJournal(t, temporaryFolder(t), { bytesMax: 64 * 1024 })
  const outcomes: Outcome[] = []
  while (outcomes.at(-1) !== 'full') outcomes.push(await append(journal, outcomes.length))
  t.match(journal.status().issue, /limit/)
  t.equal(journal.status().records, outcomes.length - 1)
  journal.trimmed(journal.status().end - 1000)
  t.equal(await append(journal, 1), 'stored')
  t.equal(journal.status().issue, undefined)
})

test('the lane of bulk data is chosen when it is appended', async t => {
  const folder = temporaryFolder(t)
  let nowUs = hourUs
  const journal = openTestJournal(t, folder, { nowUs: () => nowUs })
  const early = records(device(1), [1], hourUs - 200_000_000)
  const flagged = records(device(1), [2], hourUs, true)
  nowUs += 150_000_000
  t.equal(await journal.appendRecords(Buffer.concat([early, flagged])), 'stored')
  await journal.close()
  t.match(readAll(folder, journal), [{ isBackfill: true }, { isBackfill: false }])
})

test('a closing journal syncs accepted records and accepts no more', async t => {
  const folder = temporaryFolder(t)
  const journal = openTestJournal(t, folder)
  const taken = append(journal, 1)
  const closed = journal.close()
  const refused = append(journal, 2)
  t.equal(await taken, 'stored')
  t.equal(await refused, 'closing')
  await closed
  await journal.close()
  t.equal(readAll(folder, journal).length, 1)
})

test('a group that is committed and was not handed over stops the work', async t => {
  let tell: (message: JournalThreadMessage) => void = () => undefined
  openTestJournal(t, temporaryFolder(t), {
    startThread(_data, { onMessage }) {
      tell = onMessage
      return { commit: () => undefined, stop: async () => undefined }
    },
  })
  const message = { kind: 'committed', outcome: 'stored', end: 77, reason: undefined } as const
  t.throws(() => tell(message), { message: 'BUG: a group that ends at 77 is committed, and none was handed over' })
})

test('a journal whose thread has died can be closed', async t => {
  const faults: Error[] = []
  const journal = openTestJournal(t, temporaryFolder(t), {
    onFatal: error => faults.push(error),
    startThread: (_data, { onError }) => ({
      commit: () => onError(new Error('it died')),
      stop: async () => undefined,
    }),
  })
  journal.append(device(1), reading(20), () => undefined)
  await new Promise(resolve => setImmediate(resolve))
  t.match(faults, [{ message: 'it died' }])
  await journal.close()
})
