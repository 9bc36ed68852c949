/** The write paths of two shards as one: where rows go, and what is told when one shard refuses. */

import { test } from 'tap'
import { statusBefore } from '../../ingest/forwarder/forwarder-status.ts'
import { createBulkJournal } from '../../ingest/import/bulk-journal.ts'
import { withStatus } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import type { WallClock } from '../../ingest/journal/wall-clock.ts'
import { createShardedWritePath } from '../../ingest/kafka/sharded-write-path.ts'
import type { Reading } from '../../ingest/reading.ts'
import type { DeviceRef } from '../../ingest/readings-table.ts'
import { readings } from '../../ingest/readings-table.ts'
import type { WritePath } from '../../ingest/write-path.ts'
import { readinessOf } from '../../service/readiness.ts'
import { device, records } from '../support/journal-parts.ts'

type Path = WritePath<DeviceRef, Reading>

const forwarder = { ...statusBefore(''), issue: undefined }
const emptyJournal = {
  bytes: 0,
  bytesMax: Number.MAX_SAFE_INTEGER,
  end: 0,
  ordinal: 0,
  groups: 0,
  records: 0,
  tornBytes: 0,
  highestStampUs: 0,
}

/** Takes what comes, as it is told to. */
function madePath() {
  const taken: [kind: string, series: number, timeUs?: number][] = []
  const made = {
    outcome: 'stored' as Outcome,
    issue: undefined as string | undefined,
    term: 1,
    terms: [] as (number | undefined)[],
  }
  let stampUs = 1_000_001
  const path: Partial<Path> = {
    accept: async ({ number }, { timestampMs = 0 }, stampUs) => {
      taken.push(stampUs === undefined ? ['accept', number, timestampMs * 1000] : ['stamped', number, stampUs])
      return made.outcome
    },
    append: async (records, term) => {
      taken.push(['append', records.length])
      made.terms.push(term)
      return made.outcome
    },
    term: () => made.term,
    stampUs: () => stampUs++,
    endOfAll: async () => 0,
    status: () => ({ journal: { ...emptyJournal, issue: made.issue }, forwarder }),
  }
  return {
    taken,
    made,
    path: path as Path,
    set(outcome: Outcome) {
      made.outcome = outcome
    },
    refuse(issue: string | undefined) {
      made.issue = issue
      made.outcome = issue === undefined ? 'stored' : 'full'
    },
  }
}

const reading = (timestampMs?: number) => ({ timestampMs }) as Reading
const [first, second] = [device(1), device(2)]

/** Of device 2 on shard 2 from 1 s on, and on shard 1 before. */
async function madeShards() {
  const shards = [madePath(), madePath()] as const
  let refusal: string | undefined
  const path = await createShardedWritePath({
    table: readings,
    paths: shards.map(({ path }) => path),
    shardAt: (series, timeUs) => (series === 3 ? 3 : series === 2 && timeUs >= 1_000_000 ? 2 : 1),
    refusal: () => refusal,
    letters: { list: async () => [], remove: async () => 0 },
  })
  return {
    path,
    shards,
    refuse(why: string) {
      refusal = why
    },
  }
}

test('a reading without a time gets it before the shard is chosen, one with a time goes to where that belongs', async t => {
  const { path, shards } = await madeShards()
  for (const device of [first, second]) t.equal(await path.accept(device, reading()), 'stored')
  t.equal(await path.accept(second, reading(999)), 'stored')
  t.equal(await path.accept(second, reading(1000)), 'stored')
  t.equal(await path.accept(second, reading(), 999_999), 'stored')
  t.strictSame(shards[0].taken, [
    ['stamped', 1, 1_000_001],
    ['accept', 2, 999_000],
    ['stamped', 2, 999_999],
  ])
  t.strictSame(shards[1].taken, [
    ['stamped', 2, 1_000_002],
    ['accept', 2, 1_000_000],
  ])
})

test('all pieces of a bulk body are of the term in which it came, at each shard', async t => {
  const { path, shards } = await madeShards()
  const many = Array.from({ length: 20_000 }, (_, index) => index / 1000)
  const body = Buffer.concat([records(first, many, 2_000_000), records(second, many, 2_000_000)])
  const stored = path.append(body)
  for (const { made } of shards) made.term = 2
  t.equal(await stored, 'stored')
  t.equal(await path.append(records(second, [1], 2_000_000), 1), 'stored')
  t.equal(path.term(), 2)
  const terms = shards.flatMap(({ made }) => made.terms)
  t.ok(terms.length > 4 && terms.every(term => term === 1))
})

test('a bulk body is stored when all shards have it, refused when none has, and else it is not known', async t => {
  const { path, shards } = await madeShards()
  const body = Buffer.concat([records(first, [1], 2_000_000), records(second, [2], 2_000_000)])
  const outcomes = ['stored', 'full', 'closing', 'unknown'] as const
  for (const one of outcomes) {
    for (const other of outcomes) {
      shards[0].set(one)
      shards[1].set(other)
      const isOpen = [one, other].some(outcome => outcome === 'stored' || outcome === 'unknown')
      const expected = one === 'stored' && other === 'stored' ? 'stored' : isOpen ? 'unknown' : one
      t.equal(await path.append(body), expected, `${one} and ${other}`)
    }
  }
  t.strictSame(path.shardsOf?.(body), [1, 2])
})

test('nothing is stored of a body with readings of a shard that is not known, or without a placement', async t => {
  const { path, shards, refuse } = await madeShards()
  t.equal(await path.append(Buffer.concat([records(first, [1], 1), records(device(3), [2], 1)])), 'full')
  t.equal(await path.accept(device(3), reading()), 'full')
  refuse('it is not known')
  t.equal(await path.append(records(first, [1], 1)), 'full')
  t.equal(await path.accept(first, reading(1)), 'full')
  t.strictSame(
    shards.flatMap(({ taken }) => taken),
    [],
  )
})

const clock = { nowUs: () => 0, steps: () => 0 } as WallClock

test('while one of two shards refuses, what is of the other one is taken and the service is degraded', async t => {
  const { path, shards } = await madeShards()
  const ingest = withStatus(path, clock)
  const bulk = createBulkJournal(ingest)
  const ready = () =>
    readinessOf({
      ingest: ingest.status,
      points: () => withStatus(madePath().path, clock).status(),
      questdb: () => ({ state: 'up' }),
      furtherShards: () => [],
      postgres: () => undefined,
      node: () => undefined,
      reads: () => undefined,
      connections: () => undefined,
      clock: () => undefined,
      broker: () => undefined,
      isStopping: () => false,
    })
  t.strictSame(ready(), { status: 'ok' })
  shards[1].refuse('the topic is kept no longer')
  t.strictSame(ready(), {
    status: 'degraded',
    reasons: ['readings of shard 2 are refused: the topic is kept no longer'],
  })
  const ofFirst = records(first, [1], 2_000_000)
  const ofSecond = records(second, [2], 2_000_000)
  t.equal(await bulk.append(ofFirst), 'stored')
  t.equal(await bulk.append(ofSecond), 'full')
  t.ok(bulk.hasRoom(10, [1]))
  t.notOk(bulk.hasRoom(10, [2, 1]))
  const both = Buffer.concat([ofFirst, ofSecond])
  t.equal(await bulk.append(both), 'full')
  t.equal(await path.append(both), 'full', 'nothing is stored, also without a look beforehand')
  t.strictSame(
    shards.map(({ taken }) => taken),
    [[['append', ofFirst.length]], []],
  )
  shards[0].refuse('so is this one')
  t.strictSame(ready(), { status: 'unavailable', reasons: ['shard 1: so is this one'] })
  t.equal(await bulk.append(ofFirst), 'full')
})
