/** The write paths of two shards as one: where rows go, and what is told when one shard refuses. */

import { test } from 'tap'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { createShardedWritePath } from '../../ingest/kafka/sharded-write-path.ts'
import type { Reading } from '../../ingest/reading.ts'
import type { DeviceRef } from '../../ingest/readings-table.ts'
import { readings } from '../../ingest/readings-table.ts'
import type { WritePath } from '../../ingest/write-path.ts'
import { device, records } from '../support/journal-parts.ts'

type Path = WritePath<DeviceRef, Reading>

/** Takes what comes, as it is told to. */
function madePath() {
  const taken: [kind: string, series: number, timeUs?: number][] = []
  const made = { outcome: 'stored' as Outcome }
  let stampUs = 1_000_001
  const path: Partial<Path> = {
    accept: async ({ number }, { timestampMs = 0 }, stampUs) => {
      taken.push(stampUs === undefined ? ['accept', number, timestampMs * 1000] : ['stamped', number, stampUs])
      return made.outcome
    },
    append: async records => {
      taken.push(['append', records.length])
      return made.outcome
    },
    stampUs: () => stampUs++,
    endOfAll: async () => 0,
  }
  return {
    taken,
    path: path as Path,
    set(outcome: Outcome) {
      made.outcome = outcome
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
