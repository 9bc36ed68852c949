/** When records were last seen: each is saved once a batch, and again only when it was seen again. */

import t from 'tap'
import { createLastSeen, type SeenRecord } from '../../auth/last-seen.ts'
import { until } from '../support/processes.ts'

const record = (): SeenRecord => ({ lastSeenMs: 0, seenUnsaved: false })

t.test('a record that is seen often is saved once, with its last time, and again after a failure', async t => {
  const saved: number[][] = []
  const faults: unknown[] = []
  let isAway = true
  const lastSeen = createLastSeen<SeenRecord>({
    async save(_records, timesMs) {
      if (isAway) throw new Error('away')
      saved.push(timesMs)
    },
    failed: error => faults.push(error),
    flushMs: 1,
    batchMax: 2,
    unsavedMax: 10,
  })
  const records = [record(), record(), record()] as const
  for (const timeMs of [5, 7, 6]) for (const one of records) lastSeen.seen(one, timeMs)
  await until('it is told', () => faults.length > 0)
  isAway = false
  await until('all are saved', () => saved.length === 2)
  t.strictSame(saved, [[7, 7], [7]])
  t.strictSame([...new Set(faults.map(String))], ['Error: away'])
  lastSeen.seen(records[1], 7)
  lastSeen.seen(records[2], 8)
  await lastSeen.close()
  t.strictSame(saved, [[7, 7], [7], [8]])
})

t.test('a record that is seen while it is being saved is saved again', async t => {
  const saved: number[][] = []
  const saving = Promise.withResolvers<void>()
  const lastSeen = createLastSeen<SeenRecord>({
    async save(_records, timesMs) {
      saved.push(timesMs)
      await saving.promise
    },
    failed: error => t.fail(String(error)),
    flushMs: 1,
    batchMax: 2,
    unsavedMax: 10,
  })
  const one = record()
  lastSeen.seen(one, 5)
  await until('it is being saved', () => saved.length === 1)
  for (const timeMs of [6, 7]) lastSeen.seen(one, timeMs)
  saving.resolve()
  await lastSeen.close()
  t.strictSame(saved, [[5], [7]])
})
