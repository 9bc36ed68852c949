/** Claims of idempotency keys on a real PostgreSQL. */

import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { createAcceptOnce } from '../../../api/write/accept-once.ts'
import type { Device } from '../../../auth/devices/device.ts'
import type { Writer } from '../../../auth/writers.ts'
import type { Claim, ClaimedKey, KeyedRequest } from '../../../ingest/idempotency/claim-group.ts'
import { type ClaimsOptions, createClaims } from '../../../ingest/idempotency/claims.ts'
import type { Outcome } from '../../../ingest/journal/outcome.ts'
import type { Reading } from '../../../ingest/reading.ts'
import { recordingLog, sharedPostgres, silentLog } from '../../support/databases.ts'
import { reading } from '../../support/journal-parts.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await sharedPostgres(t)
const { postgres } = store
const dayMs = 24 * 3_600_000

let stampUs = 1_000_001

async function open(t: Test, more: Partial<ClaimsOptions> = {}) {
  await postgres.query('TRUNCATE idempotency_keys, idempotency_counts')
  return openAgain(t, more)
}

/** The second instance leaves the tables as they are. */
function openAgain(t: Test, more: Partial<ClaimsOptions> = {}) {
  const clock = { ms: Date.now() }
  const claims = createClaims({
    pool: postgres,
    nowMs: () => clock.ms,
    log: silentLog,
    rowsPerWriterMax: 100,
    ingest: { reserveStampsUs: async count => Array.from({ length: count }, () => stampUs++) },
    ...more,
  })
  t.teardown(() => claims.close())
  const claim = (key: string, request = 'a', more: Partial<KeyedRequest> = {}) =>
    claims.claim({ writer: 'device 1', key, fingerprint: hash('sha256', request, 'buffer'), needsStamp: true, ...more })
  const kindsOf = (keys: string[]) => Promise.all(keys.map(async key => (await claim(key)).kind))
  return { claims, claim, kindsOf, clock }
}

async function rowCount(): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>('SELECT count(*)::int AS count FROM idempotency_keys')
  return rows[0]?.count ?? -1
}

t.test('a repeated request gets the stamp of the first one, another request gets none', async t => {
  const { claim, claims } = await open(t)
  const first = await claim('k')
  t.match(first, { kind: 'claimed', stampUs: Number })
  t.strictSame(await claim('k'), first)
  t.strictSame(await claim('k', 'b'), { kind: 'other request' })
  t.not((await claim('l', 'b', { writer: 'device 1' })).kind, 'other request')
  t.match(await claim('k', 'b', { writer: 'device 2' }), { kind: 'claimed' }, 'each writer has keys of its own')
  t.match(await claim('m', 'a', { needsStamp: false }), { kind: 'claimed', id: String, stampUs: undefined })
  await claims.close()
  t.strictSame(await openAgain(t).claim('k'), first, 'also after a restart')
})

t.test('sixteen at once are one row and one stamp, whatever group they are in', async t => {
  const { claim } = await open(t, { limits: { claimsPerStatement: 5 } })
  const claims = await Promise.all(Array.from({ length: 16 }, () => claim('k')))
  t.match(claims[0], { kind: 'claimed', stampUs: Number })
  for (const each of claims) t.strictSame(each, claims[0])
  t.equal(await rowCount(), 1)
  const mixed = await Promise.all(Array.from({ length: 16 }, (_, index) => claim('l', index === 7 ? 'b' : 'a')))
  for (const [at, { kind }] of mixed.entries()) t.equal(kind, at === 7 ? 'other request' : 'claimed')
  const others = await Promise.all(Array.from({ length: 50 }, (_, index) => claim(`k${index}`)))
  t.equal(new Set(others.map(each => claimed(each).stampUs)).size, 50, 'those of different keys are unlike')
})

t.test('a writer has a limited number of keys, in which its old ones count', async t => {
  const { claim, kindsOf } = await open(t, { rowsPerWriterMax: 3 })
  t.strictSame(await kindsOf(['a', 'b', 'c', 'd']), ['claimed', 'claimed', 'claimed', 'too many of writer'])
  t.equal((await claim('e')).kind, 'too many of writer')
  t.equal((await claim('a')).kind, 'claimed')
  t.equal((await claim('a', 'b')).kind, 'other request')
  t.equal((await claim('a', 'a', { writer: 'device 2' })).kind, 'claimed')
  t.equal(await rowCount(), 4)
})

t.test('the bounds hold for several processes together, however they interleave', async t => {
  const bounds = { rowsPerWriterMax: 20, limits: { rowsMax: 45, claimsPerStatement: 7 } }
  await open(t)
  const processes = [1, 2, 3].map(() => openAgain(t, bounds))
  const claims = async (writer: string) => {
    const keys = Array.from({ length: 90 }, (_, at) => `${writer} ${at}`)
    return await Promise.all(keys.map(async (key, at) => (await processes[at % 3]?.claim(key, 'a', { writer }))?.kind))
  }
  const kinds = (await Promise.all(['device 1', 'device 2'].map(claims))).flat()
  t.strictSame(new Set(kinds), new Set(['claimed', 'too many of writer']))
  t.equal(kinds.filter(kind => kind === 'claimed').length, 40)
  t.equal(await rowCount(), 40)
  const more = await claims('device 3')
  const count = more.filter(kind => kind === 'claimed').length
  t.strictSame([count, more.includes('too many'), await rowCount()], [5, true, 45])
})

t.test("a sweep of another process's claims makes room for both", async t => {
  const bounds = { rowsPerWriterMax: 2 }
  const { claim, claims, clock } = await open(t, bounds)
  const { log, texts } = recordingLog('warn')
  await claim('a')
  await claim('b')
  const other = openAgain(t, { ...bounds, nowMs: () => clock.ms, log, limits: { sweepMs: 20 } })
  t.strictSame(await other.kindsOf(['c']), ['too many of writer'])
  clock.ms += dayMs
  await waitFor('the rows are gone', async () => (await rowCount()) === 0)
  await claims.close()
  t.strictSame(await other.kindsOf(['d', 'e', 'f']), ['claimed', 'claimed', 'too many of writer'])
  t.strictSame(texts, [])
})

function claimed(claim: Claim | undefined): ClaimedKey {
  if (claim?.kind !== 'claimed') throw new Error(claim?.kind)
  return claim
}

t.test('the reading of a claim is stored once, and again after a failure or an expiry', async t => {
  const { claim, claims } = await open(t, { limits: { storedMax: 2 } })
  const [first, second, third] = await Promise.all(['k', 'l', 'm'].map(async key => claimed(await claim(key))))
  let appended = 0
  const append = (outcome: Outcome) => async () => {
    appended++
    await sleep(1)
    return outcome
  }
  const once = (of = first, outcome: Outcome = 'stored') => claims.once(claimed(of), '1', append(outcome))
  t.strictSame(await Promise.all([once(first), once(first), once(first)]), ['stored', 'stored', 'stored'])
  t.equal(appended, 1, 'those that come meanwhile wait for the first')
  t.equal(await once(first, 'full'), 'stored')
  t.equal(await once(second, 'full'), 'full')
  t.equal(await once(second), 'stored')
  t.equal(appended, 3, 'what was not stored is appended again')
  const broken = claims.once(claimed(third), '1', () => Promise.reject(new Error('broken')))
  await t.rejects(broken, /broken/)
  t.equal(await once(third), 'stored')
  t.equal(await once(first), 'stored')
  t.equal(appended, 5, 'beyond the bound the oldest is appended again')
})

t.test('a reading with its own time is not stored again by another process', async t => {
  const { claim, claims, clock } = await open(t)
  const isTimed = { needsStamp: false }
  const withTime = (key: string) => claim(key, 'a', isTimed)
  const append = async (): Promise<Outcome> => 'stored'
  const [timed, refused, stamped] = [await withTime('t'), await withTime('r'), await claim('s')]
  t.equal(await claims.once(claimed(timed), '7', append), 'stored')
  t.equal(await claims.once(claimed(refused), '7', async () => 'unknown'), 'unknown')
  t.equal(await claims.once(claimed(stamped), '7', append), 'stored')
  await claims.close()
  const other = openAgain(t, { ingest: { reserveStampsUs: async () => 'full' }, nowMs: () => clock.ms })
  const sentAgain = (key: string) => other.claim(key, 'a', isTimed)
  const again = async (key: string, of = '7') => {
    let isAppended = false
    const outcome = await other.claims.once(claimed(await sentAgain(key)), of, async () => {
      isAppended = true
      return 'stored'
    })
    t.equal(outcome, 'stored')
    return isAppended
  }
  t.equal(await again('t'), false)
  t.equal(await again('t', '8'), true, 'the name stands for another device by now')
  t.equal(await again('r'), true, 'its outcome was unknown')
  clock.ms += dayMs
  // The claiming process has ended before it stored anything.
  await sentAgain('t')
  t.equal(await again('t', '8'), true, 'the key was claimed again')
})

t.test('a key is free again after a day, swept or not', async t => {
  const { claim, clock } = await open(t, { rowsPerWriterMax: 2, limits: { sweepMs: 3_600_000 } })
  const first = await claim('k')
  clock.ms += dayMs - 1
  t.strictSame(await claim('k', 'b'), { kind: 'other request' })
  clock.ms += 1
  const next = await claim('k', 'b')
  t.not(claimed(next).id, claimed(first).id)
  t.equal(await rowCount(), 1)
  t.equal((await claim('l')).kind, 'claimed', 'a row that was replaced is counted once')
})

t.test('the sweep removes expired claims and makes room', async t => {
  const { claim, clock } = await open(t, { rowsPerWriterMax: 5, limits: { sweepMs: 20, removedPerStatement: 2 } })
  for (const key of ['a', 'b', 'c', 'd', 'e']) await claim(key)
  clock.ms += dayMs / 2
  t.equal((await claim('f')).kind, 'too many of writer')
  await claim('f', 'a', { writer: 'device 2' })
  clock.ms += dayMs / 2
  await waitFor('the rows are gone', async () => (await rowCount()) === 1)
  await waitFor('there is room', async () => (await claim('f')).kind === 'claimed')
})

t.test('too many that wait are refused at once', async t => {
  const { kindsOf } = await open(t, { limits: { waitingMax: 3 } })
  t.strictSame(await kindsOf(['a', 'b', 'c', 'd', 'e']), [...Array(3).fill('claimed'), 'too many', 'too many'])
})

t.test('without the journal no key is claimed', async t => {
  let outcome: 'full' | 'closing' | 'unknown' = 'full'
  const { claim } = await open(t, { ingest: { reserveStampsUs: async () => outcome } })
  for (outcome of ['full', 'closing', 'unknown'] as const) t.strictSame(await claim('k'), { kind: outcome })
  t.equal(await rowCount(), 0)
})

t.test('requests fail fast without PostgreSQL and keep their earlier claims', async t => {
  let isAway = false
  let asked = 0
  const pool = {
    query(config: pg.QueryConfig) {
      if (!isAway) return postgres.query(config)
      asked++
      return sleep(10).then(() => Promise.reject(new Error('Connection terminated unexpectedly')))
    },
  } as Pick<pg.Pool, 'query'>
  const { claim, kindsOf } = await open(t, { pool, rowsPerWriterMax: 2, limits: { claimsPerStatement: 2 } })
  t.equal((await claim('a')).kind, 'claimed')
  isAway = true
  t.strictSame(await kindsOf(['a', 'b', 'c', 'd', 'e']), Array(5).fill('database away'))
  t.equal(asked, 1, 'those behind do not ask again')
  isAway = false
  t.equal((await openAgain(t).claim('x')).kind, 'claimed')
  t.strictSame(await kindsOf(['a', 'b']), ['claimed', 'too many of writer'])
})

t.test('an internal error rejects one claim without affecting the next', async t => {
  let isBroken = true
  const pool = {
    query: (config: pg.QueryConfig) => (isBroken ? postgres.query('SELECT 1 / 0') : postgres.query(config)),
  } as Pick<pg.Pool, 'query'>
  const { claim } = await open(t, { pool })
  await t.rejects(claim('k'), { message: 'division by zero' })
  isBroken = false
  t.equal((await claim('k')).kind, 'claimed')
})

t.test('a failed sweep is logged, and a close does not wait for a hanging one', async t => {
  const { log, texts } = recordingLog('warn')
  const pool = { query: () => Promise.reject(new Error('Connection terminated')) } as unknown as Pick<pg.Pool, 'query'>
  const { claims, claim } = await open(t, { pool, log, limits: { sweepMs: 5 } })
  await waitFor('the failure is logged', async () => texts.length > 0)
  t.match(texts[0], /cannot remove expired idempotency keys/)
  await claims.close()
  t.strictSame(await claim('k'), { kind: 'closing' })
})

t.test('changes during a claim count: the device, its credential, and an expiry', async t => {
  const { claims } = await open(t)
  const porch = { number: 1, name: 'porch' } as Device
  let found: ReturnType<Writer['find']> = porch
  let renewed: 'UNAUTHORIZED' | undefined
  let fromMs = 0
  const accepted: unknown[] = []
  const ingest = {
    async accept(_device: object, { timestampMs }: Reading, reservedUs?: number) {
      accepted.push(reservedUs ?? timestampMs)
      return 'stored' as const
    },
  }
  const acceptOnce = createAcceptOnce({ ingest, claims, earliestMs: () => fromMs })
  const take = (key: string, timestampMs: number | undefined, meanwhile: () => void) => {
    const writer = { id: 'device 1', device: porch, find: () => found } as unknown as Writer
    const reasons = { reason: 'unauthorized', code: 'UNAUTHORIZED' } as const
    const given = { key, renewed: async () => (renewed === undefined ? writer : reasons) }
    const taken = acceptOnce({ ...given, writer, device: porch, reading: reading(1, timestampMs), body: { key } })
    meanwhile()
    return taken
  }
  const expired = { code: 'PAYLOAD_INVALID', members: { errors: { timestamp: /older readings have expired$/ } } }
  t.match(await take('b', 1000, () => (fromMs = 1001)), expired)
  t.equal(await take('c', undefined, () => undefined), 'stored', 'a stamp is of now')
  fromMs = 0
  t.match(await take('d', 1000, () => (found = 'DEVICE_UNKNOWN')), { code: 'UNAUTHORIZED' })
  t.match(await take('e', 1000, () => (found = { ...porch })), { code: 'DEVICE_SUSPENDED' })
  t.match(await take('f', 1000, () => (found = 'LOGGING_DISABLED')), { code: 'LOGGING_DISABLED' })
  found = porch
  t.match(await take('g', 1000, () => (renewed = 'UNAUTHORIZED')), { code: 'UNAUTHORIZED' }, 'an API key')
  t.match(accepted, [Number])
})
