/** Readings with reserved stamps on their way through the write path. */

import { test } from 'tap'
import { openIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { device, reading, records } from '../support/journal-parts.ts'

test('a reading with a reserved stamp is stored before the bulk data that waits', async t => {
  const ingest = openIngest({
    directory: temporaryFolder(t),
    journalBytesMax: 100 * 1024 ** 2,
    reserveBytes: 0,
    keepMs: 0,
    log: silentLog,
    clock: createWallClock({ nowMs: Date.now }),
    onFatal: error => t.fail(error.message),
  })
  t.teardown(() => ingest.close())
  const [stampUs] = (await ingest.reserveStampsUs(1)) as [number]
  const order: string[] = []
  // Of more than a group takes, the last of them so small that they leave no room for a reading either.
  const sizes = [...Array<number>(12).fill(4000), ...Array<number>(4000).fill(1)]
  const bulk = sizes.map(size => records(device(2), Array<number>(size).fill(1), stampUs + 1))
  await Promise.all([
    ...bulk.map(piece => ingest.append(piece).then(outcome => order.push(`bulk ${outcome}`))),
    ingest.accept(device(1), reading(7), stampUs).then(outcome => order.push(`single ${outcome}`)),
  ])
  t.equal(order.length, bulk.length + 1)
  t.ok(order.includes('single stored') && order.at(-1) === 'bulk stored', 'it does not wait for those before it')
})
