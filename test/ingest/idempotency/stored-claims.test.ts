import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { createStoredClaims } from '../../../ingest/idempotency/claims.ts'
import type { Outcome } from '../../../ingest/journal/outcome.ts'

test('of those that wait for one that was not stored, one is appended', async t => {
  const { once } = createStoredClaims(10, () => undefined)
  const row = { writer: 'w', keyDigest: Buffer.of(1), fingerprint: Buffer.of(2), expiresMs: 1 }
  const known = { stampUs: undefined, storedAs: undefined }
  const claim = { kind: 'claimed' as const, id: 'a', stampUs: undefined, row: { ...row, ...known } }
  const outcomes: Outcome[] = ['full', 'unknown', 'stored', 'stored', 'stored']
  let appended = 0
  const append = async () => {
    const outcome = outcomes[appended++] as Outcome
    await sleep(1)
    return outcome
  }
  const all = await Promise.all(Array.from({ length: 5 }, () => once(claim, '1', append)))
  t.strictSame(all.toSorted(), ['full', 'stored', 'stored', 'stored', 'unknown'])
  t.equal(appended, 3)
})
