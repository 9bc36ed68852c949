/** A backlog over a link that lets little pass: it drains, by requests that are as long as the link allows. */

import { test } from 'tap'
import { revisionSlots } from '../../ingest/forwarder/dirty-set.ts'
import { Forwarder } from '../../ingest/forwarder/forwarder.ts'
import type { ForwarderStatus } from '../../ingest/forwarder/forwarder-status.ts'
import { connectQuestdb } from '../../ingest/forwarder/questdb.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { recoverJournal } from '../../ingest/journal/recovery.ts'
import { SegmentWriter } from '../../ingest/journal/segment-writer.ts'
import { readings as readingsDescription } from '../../ingest/readings-table.ts'
import { systemTiming } from '../../ingest/timing.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { readingsTable } from '../../store/tables.ts'
import { startAnsweringProxy } from '../faults/answering-proxy.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { silentLog, startDatabases, type TestHooks, temporaryFolder } from '../support/databases.ts'
import { device, records, unsealed } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'

const startUs = Date.UTC(2026, 0, 1) * 1000

interface Backlog {
  directory: string
  end: number
}

/** As many readings of one device as a group of a backlog has. */
function writeBacklog(t: TestHooks, number: number, readings: number): Backlog {
  const directory = temporaryFolder(t)
  const disk = openDisk(directory)
  const writer = new SegmentWriter({ disk, end: recoverJournal(disk).end, reserveBytes: 0 })
  const temperatures = Array.from({ length: readings }, (_, index) => index % 50)
  const bytes = unsealed(records(device(number), temperatures, startUs))
  const counts = { recordCount: readings, backfillCount: 0, receiptUs: startUs, lastStampUs: startUs }
  const { end } = writer.commit(bytes, counts)
  writer.close()
  return { directory, end }
}

/** Takes the backlog there; resolves when all of it is applied. A request may be idle for `idleMs`. */
async function drain(t: TestHooks, { directory, end }: Backlog, address: QuestdbHttp, idleMs: number): Promise<void> {
  let status: ForwarderStatus | undefined
  const forwarder = new Forwarder({
    table: readingsDescription,
    disk: openDisk(directory),
    connections: Array.from({ length: 4 }, () => connectQuestdb(address, idleMs)),
    requestBytes: 12 * 1024 * 1024,
    durableEnd: () => end,
    from: 0,
    endOrdinal: 0,
    paceMs: 0,
    quiesceMs: 0,
    predecessorMs: 0,
    letterId: position => position,
    isSynced: true,
    furtherSeries: new Uint32Array(),
    keepMs: 0,
    keepBytesMax: 1e9,
    revisions: new Int32Array(revisionSlots),
    nowMs: Date.now,
    timing: systemTiming,
    log: silentLog,
    onSent: () => undefined,
    onStatus: latest => {
      status = latest
    },
  })
  t.teardown(() => forwarder.close())
  forwarder.run()
  await until('the backlog is applied', () => status?.applied === end)
}

test('a backlog drains over a slow link and through a proxy with a limit', async t => {
  const { store } = await startDatabases(t)
  await store.questdb.ready
  const { address } = store.questdb
  const client = createQuestdbClient(address.http)
  t.teardown(() => client.close())
  const stored = async (number: number) =>
    (await client.exec(`SELECT count() FROM ${readingsTable} WHERE device = 'device-${number}'`, 60_000))[0]?.[0]

  // As 50 and 150 kB/s against the 30 s that a request may be idle, eight times as fast.
  for (const [number, bytesPerSecond] of [
    [1, 400_000],
    [2, 1_200_000],
  ] as const) {
    const link = await startTcpProxy(t, address.http.port, createRandom(1))
    link.trouble.bytesPerSecond = bytesPerSecond
    await drain(t, writeBacklog(t, number, 30_000), { ...address.http, port: link.port }, 1500)
    t.equal(await stored(number), 30_000, `${bytesPerSecond} bytes a second`)
  }

  const limits = await startAnsweringProxy(t, address.http.port)
  let passed = 0
  limits.decide = body => {
    if (body.length > 150_000) return { status: 413, message: 'too large' }
    passed++
    return undefined
  }
  await drain(t, writeBacklog(t, 3, 30_000), { ...address.http, port: limits.port }, 30_000)
  t.equal(await stored(3), 30_000, 'a proxy that answers 413')
  t.ok(limits.refused > 0 && passed > limits.refused, `${limits.refused} were refused, ${passed} passed`)
})
