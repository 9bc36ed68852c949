/** Of which devices alerts wait with silence, by what the shards say. */

import { test } from 'tap'
import { bucketCount, bucketOf, oneShard, type Placement } from '../../placement/placement.ts'
import { createShardOutages } from '../../service/shard-outages.ts'

const dayMs = 86_400_000

/** Devices alternate between two shards since the third day; before, all were on shard 1. */
const placement: Placement = [
  ...oneShard,
  { fromUs: 3 * dayMs * 1000, shards: Uint8Array.from({ length: bucketCount }, (_, bucket) => 1 + (bucket % 2)) },
]

function createShards(count: number) {
  const states = Array.from({ length: count }, () => ({ issue: undefined as string | undefined, untoldSeconds: 0 }))
  const readings = (all: () => typeof states) => ({
    status: () => ({ journal: { issue: all().every(({ issue }) => issue) ? 'refused' : undefined } as never }),
    shared: { untoldSeconds: () => Math.max(...all().map(({ untoldSeconds }) => untoldSeconds)) } as never,
  })
  let nowMs = 10 * dayMs
  const outages = createShardOutages({
    ingest: readings(() => states),
    shards: states.map((state, at) => ({ number: at + 1, ingest: readings(() => [state]) })),
    placement: () => placement,
    nowMs: () => nowMs,
  })
  const isOutOf = (device: number) => outages.outBuckets()?.[bucketOf(device)] === 1
  return {
    states,
    outages,
    isOutOf,
    onDay(day: number) {
      nowMs = day * dayMs
    },
  }
}

/** In an even and in an odd bucket. */
const [even, odd] = [0, 1].map(rest => Array.from({ length: 10 }, (_, at) => at).find(at => bucketOf(at) % 2 === rest))

test('the devices of a shard that refuses, or whose readings are not told, are known', async t => {
  const { states, outages, isOutOf } = createShards(2)
  const look = () => [outages.isOut(), isOutOf(even ?? 0), isOutOf(odd ?? 0)]
  const [first, second] = states
  if (first === undefined || second === undefined) throw new Error('there are two')
  t.strictSame(look(), [false, false, false])
  t.equal(outages.outBuckets(), undefined)
  second.issue = 'full'
  t.strictSame(look(), [false, false, true])
  first.untoldSeconds = 1
  t.equal(outages.isOut(), true)
  second.issue = undefined
  t.strictSame(look(), [false, true, false])
  first.untoldSeconds = 0
  t.strictSame(look(), [false, false, false])
})

test('on the day after a shard was added the one before has readings of all its devices', async t => {
  const { states, isOutOf, onDay } = createShards(2)
  const [first] = states
  if (first !== undefined) first.issue = 'full'
  onDay(3.9)
  t.strictSame([isOutOf(even ?? 0), isOutOf(odd ?? 0)], [true, true])
  onDay(4.1)
  t.strictSame([isOutOf(even ?? 0), isOutOf(odd ?? 0)], [true, false])
})

test('one shard is all', async t => {
  const { states, outages } = createShards(1)
  const [only] = states
  if (only !== undefined) only.issue = 'full'
  t.equal(outages.isOut(), true)
  t.equal(outages.outBuckets(), undefined)
})
