import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { createStoredClaims } from '../../../ingest/idempotency/stored-claims.ts'
import type { Outcome } from '../../../ingest/journal/outcome.ts'

test('of those that wait for one that was not stored, one is appended', async t => {
  const { once } = createStoredClaims(10)
  const outcomes: Outcome[] = ['full', 'unknown', 'stored', 'stored', 'stored']
  let appended = 0
  const append = async () => {
    const outcome = outcomes[appended++] as Outcome
    await sleep(1)
    return outcome
  }
  const all = await Promise.all(Array.from({ length: 5 }, () => once('a', append)))
  t.strictSame(all.toSorted(), ['full', 'stored', 'stored', 'stored', 'unknown'])
  t.equal(appended, 3)
})
