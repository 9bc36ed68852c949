/** A backlog of old readings beside live ones, from the journal to a real QuestDB. */

import { test } from 'tap'
import { createBulkJournal } from '../../ingest/import/bulk-journal.ts'
import { openIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { readingsTable } from '../../store/tables.ts'
import { silentLog, startDatabases, temporaryFolder } from '../support/databases.ts'
import { device, reading, records } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { questdbRows } from '../support/questdb-rows.ts'

const daysOld = 40
const readingsOfBody = 2000
const bodies = 100

test('of a backlog and of what comes in meanwhile nothing is lost, and single readings are taken all the time', async t => {
  const { store } = await startDatabases(t)
  const ingest = openIngest({
    directory: temporaryFolder(t),
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 0,
    log: silentLog,
    clock: createWallClock({ nowMs: Date.now }),
    onFatal: error => {
      throw error
    },
  })
  t.teardown(() => ingest.close())
  await store.questdb.ready
  ingest.startForwarding(store.questdb.address.http, true)
  const bulk = createBulkJournal(ingest)
  const temperatures = Array.from({ length: readingsOfBody }, (_, index) => index / 100)
  const startUs = (Date.now() - daysOld * 86_400_000) * 1000
  let isSending = true
  let live = 0
  async function sendLive(number: number): Promise<void> {
    while (isSending) {
      t.equal(await ingest.accept(device(number), reading(1)), 'stored')
      live++
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  const senders = [2, 3, 4].map(sendLive)
  // The days come in no order.
  for (let body = 0; body < bodies; body++) {
    const dayUs = startUs + ((body * 17) % daysOld) * 86_400_000_000 + body * 1_000_000
    t.equal(await bulk.append(records(device(1), temperatures, dayUs)), 'stored')
  }
  const liveMeanwhile = live
  await until('the backlog is applied', () => ingest.status().lag.rows < 1000)
  isSending = false
  await Promise.all(senders)
  await until('all is applied', () => ingest.status().lag.rows === 0)
  t.ok(liveMeanwhile > 0 && live > liveMeanwhile)
  t.strictSame(
    await questdbRows(store, `SELECT device = 'device-1' AS old, count() FROM ${readingsTable} ORDER BY old`),
    [
      [false, live],
      [true, bodies * readingsOfBody],
    ],
  )
  t.equal(ingest.status().forwarder.deadLetters, 0)
})
