/** A journal on a topic loses its lease and gets it again: records accepted before are not sent. */

import { setImmediate as turn } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { Lease } from '../../auth/nodes/leadership.ts'
import { createBulkJournal } from '../../ingest/import/bulk-journal.ts'
import { Journal } from '../../ingest/journal/journal.ts'
import { controlAt } from '../../ingest/journal/journal-shared.ts'
import type { JournalThreadHooks } from '../../ingest/journal/medium.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { AppendDeadline } from '../../ingest/kafka/produce/deadline.ts'
import { whileLeased } from '../../ingest/kafka/produce/write-path.ts'
import { readingWriter } from '../../ingest/readings-table.ts'
import { appendInPieces, piecesOf } from '../../ingest/write-path.ts'
import { silentLog } from '../support/databases.ts'
import { device, reading, records } from '../support/journal-parts.ts'

/** A topic that keeps each group in doubt until the test decides its outcome, with a lease that the test ends. */
function openJournal(t: Test) {
  let wallMs = 1_000_000
  const lease = new Lease(60_000, () => wallMs)
  lease.begin()()
  const sent: number[] = []
  let end = 0
  let isInDoubt = false
  let answer = (_outcome: Exclude<Outcome, 'closing'>): void => undefined
  const journal = new Journal({
    writer: readingWriter,
    medium: {
      end: { position: 0, ordinal: 0 },
      tornBytes: 0,
      stamper: { next: () => 1, lastUs: () => 0, highestUs: () => 0 },
      term: () => lease.term(),
      bytesMax: Number.MAX_SAFE_INTEGER,
      bytesUpTo: () => 0,
      trimmed: () => undefined,
      startThread(shared, hooks: JournalThreadHooks) {
        const commit = () => {
          sent.push(shared.control[controlAt.recordCount] ?? 0)
          isInDoubt = true
          answer = outcome => {
            isInDoubt = false
            if (outcome === 'stored') end += 1
            shared.durableEnd[0] = BigInt(end)
            hooks.onMessage({ kind: 'committed', outcome, end, reason: undefined })
          }
        }
        const thread = { commit, stop: async () => undefined }
        const leaseOf = { leaseLeftMs: () => lease.leftMs(), leaseTerm: () => lease.term() }
        return whileLeased(thread, { ...leaseOf, deadline: new AppendDeadline(), shared, hooks })
      },
    },
    liveWindowUs: 300_000_000,
    nowUs: () => 2_000_000_000,
    log: silentLog,
    onFatal: error => t.fail(error.message),
    after: () => () => undefined,
  })
  t.teardown(() => journal.close())
  return {
    journal,
    /** The number of records of each group that was sent. */
    sent,
    append: () => new Promise<Outcome>(resolve => journal.append(device(1), reading(1), resolve)),
    /** Decides the outcome of the group in doubt. */
    async answer(outcome: Exclude<Outcome, 'closing'>) {
      while (!isInDoubt) await turn()
      answer(outcome)
    },
    renewLease: () => lease.begin()(),
    /** It ends, and there is one again. */
    loseLease() {
      wallMs += 60_000
      lease.begin()()
    },
  }
}

test('records behind a group in doubt are refused if the lease ended meanwhile, even after a new one', async t => {
  const { journal, append, answer, loseLease, sent } = openJournal(t)
  const inDoubt = append()
  await turn()
  const before = append()
  const [piece = Buffer.of()] = piecesOf(body(), journal.bulkBytesMax)
  // One group cannot hold both.
  const bulk = [1, 2].map(() => journal.appendRecords(piece))
  loseLease()
  const behind = append()
  await answer('stored')
  t.equal(await inDoubt, 'stored', 'what was sent is stored, whatever came meanwhile')
  t.strictSame(await Promise.all([before, behind, ...bulk]), ['full', 'full', 'full', 'full'])
  t.strictSame(sent, [1])
  const again = append()
  await answer('stored')
  t.equal(await again, 'stored')
  t.strictSame(sent, [1, 1])
})

test('a reading that waited while the lease was renewed in time is sent', async t => {
  const { append, answer, renewLease, sent } = openJournal(t)
  const inDoubt = append()
  await turn()
  const behind = append()
  renewLease()
  await answer('unknown')
  t.equal(await inDoubt, 'unknown')
  await answer('stored')
  t.equal(await behind, 'stored')
  t.strictSame(sent, [1, 1])
})

test('an append without records needs no lease', async t => {
  const { journal, append, answer, loseLease, sent } = openJournal(t)
  const inDoubt = append()
  await turn()
  const reserved = journal.reserveStampsUs(1)
  loseLease()
  await answer('stored')
  t.equal(await inDoubt, 'stored')
  await answer('stored')
  t.strictSame(await reserved, [1])
  t.strictSame(sent, [1, 0])
})

/** The body has more than one piece. */
const body = () => records(device(2), Array<number>(20_000).fill(1), 0)

test('a body in pieces from before the end of the lease has no later piece accepted', async t => {
  const { journal, answer, loseLease, sent } = openJournal(t)
  const bulk = createBulkJournal({
    append: (records, term) => appendInPieces(journal, records, term),
    term: () => journal.term(),
    status: () => ({ journal: journal.status() }) as never,
  })
  const stored = bulk.append(body())
  while (sent.length < 1) await turn()
  loseLease()
  await answer('stored')
  t.equal(await stored, 'unknown', 'its first piece is stored')
  t.equal(sent.length, 1)
  const again = bulk.append(records(device(2), [1], 0))
  await answer('stored')
  t.equal(await again, 'stored')
})
