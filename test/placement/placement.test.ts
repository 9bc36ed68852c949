/** Places of devices against what each moment of the range says by itself; fast-check prints the seed of a run that fails. */

import fc from 'fast-check'
import { test } from 'tap'
import { nextEpochUs } from '../../placement/next-epoch.ts'
import {
  bucketCount,
  bucketOf,
  bucketsOn,
  type Epoch,
  oneShard,
  type Placement,
  placesOf,
  placesWithin,
  shardAt,
  shardsWithin,
} from '../../placement/placement.ts'
import { runs } from '../support/runs.ts'

const dayUs = 86_400_000_000
const { NEGATIVE_INFINITY: ever, POSITIVE_INFINITY: always } = Number

/** The day on which each epoch begins, how many shards it has, and how devices lie on them. */
const epochs = fc.uniqueArray(
  fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 4095 })),
  { minLength: 1, maxLength: 6, selector: ([day]) => day },
)

function placementOf(made: readonly (readonly [day: number, count: number, salt: number])[]): Placement {
  return [...made]
    .sort(([a], [b]) => a - b)
    .map(([day, count, salt], at): Epoch => {
      const shards = Uint8Array.from({ length: bucketCount }, (_, bucket) => 1 + (((bucket ^ salt) >>> 3) % count))
      return { fromUs: at === 0 ? ever : day * dayUs, shards }
    })
}

const deviceNumber = fc.integer({ min: 1, max: 2 ** 31 - 1 })
const bound = fc.oneof(
  fc.constantFrom(ever, always),
  fc.integer({ min: -dayUs, max: 14 * dayUs }),
  fc.integer({ min: 0, max: 13 }).map(day => day * dayUs),
)

test('places of a range part it, each with the shard of each of its moments', async t => {
  fc.assert(
    fc.property(epochs, deviceNumber, bound, bound, (made, number, one, other) => {
      const placement = placementOf(made)
      const [fromUs, toUs] = [Math.min(one, other), Math.max(one, other)]
      const places = placesOf(placement, number, fromUs, toUs)
      if (fromUs === toUs) return places.length === 0
      const isParted = places.every((place, at) => {
        return place.fromUs < place.toUs && place.fromUs === (places[at - 1]?.toUs ?? fromUs)
      })
      const areMerged = places.every((place, at) => place.shard !== places[at - 1]?.shard)
      const moments = places.flatMap(place => {
        const inside = placement.map(epoch => epoch.fromUs).filter(us => us >= place.fromUs && us < place.toUs)
        const first = place.fromUs === ever ? -dayUs : place.fromUs
        const last = place.toUs === always ? 20 * dayUs : place.toUs - 1
        return [...inside, first, last].filter(us => us >= place.fromUs).map(us => [place.shard, us] as const)
      })
      const doAgree = moments.every(([shard, us]) => shardAt(placement, number, us) === shard)
      return isParted && areMerged && doAgree && places.at(-1)?.toUs === toUs
    }),
    runs(200, 1000),
  )
  t.pass('for every placement')
})

test('a part of all places of a device is its places there', async t => {
  fc.assert(
    fc.property(epochs, deviceNumber, bound, bound, (made, number, fromUs, toUs) => {
      const placement = placementOf(made)
      const all = placesOf(placement, number, ever, always)
      const within = placesWithin(all, fromUs, toUs)
      return JSON.stringify(within) === JSON.stringify(placesOf(placement, number, fromUs, toUs))
    }),
    runs(200, 1000),
  )
  t.pass('for every range')
})

test('the shards of a range are those of its moments', async t => {
  fc.assert(
    fc.property(epochs, bound, bound, (made, fromUs, toUs) => {
      const placement = placementOf(made)
      const expected = new Set<number>()
      for (const [at, { fromUs: from, shards }] of placement.entries()) {
        const end = placement[at + 1]?.fromUs ?? always
        if (from < toUs && end > fromUs && fromUs < toUs) for (const shard of shards) expected.add(shard)
      }
      return JSON.stringify(shardsWithin(placement, fromUs, toUs)) === JSON.stringify([...expected].sort())
    }),
  )
  t.pass('for every range')
})

test('the buckets on some shards are those of the devices with a row there from then on', async t => {
  const shards = fc.uniqueArray(fc.integer({ min: 1, max: 3 }))
  fc.assert(
    fc.property(epochs, deviceNumber, bound, shards, (made, number, fromUs, some) => {
      const placement = placementOf(made)
      const asked = new Set(some)
      const isThere = placesOf(placement, number, fromUs, always).some(({ shard }) => asked.has(shard))
      return bucketsOn(placement, asked, fromUs)[bucketOf(number)] === (isThere ? 1 : 0)
    }),
    runs(60, 300),
  )
  t.pass('for every moment')
})

test('the bucket of a device is what it was, and all buckets are used alike', async t => {
  t.strictSame([0, 1, 2, 3, 17, 1000, 123_456, 2 ** 32 - 1].map(bucketOf), [0, 2231, 774, 1063, 3816, 1624, 2763, 3897])
  const counts = new Uint32Array(bucketCount)
  for (let number = 1; number <= 100 * bucketCount; number++) {
    const bucket = bucketOf(number)
    counts[bucket] = (counts[bucket] as number) + 1
  }
  t.ok(Math.min(...counts) > 50 && Math.max(...counts) < 150, `${Math.min(...counts)} to ${Math.max(...counts)} of 100`)
})

test('without more shards everything is on the first one', async t => {
  t.strictSame(placesOf(oneShard, 7, ever, always), [{ shard: 1, fromUs: ever, toUs: always }])
  t.strictSame(shardsWithin(oneShard, ever, always), [1])
  t.equal(shardAt(oneShard, 7, 0), 1)
})

test('a device without a shard is a fault of ours', async t => {
  const none: Placement = [{ fromUs: 0, shards: new Uint8Array(bucketCount) }]
  t.throws(() => shardAt(none, 1, 0), /BUG: bucket \d+ has no shard/)
  t.throws(() => placesOf(none, 1, 0, 1), /BUG: bucket \d+ has no shard/)
  t.throws(() => shardAt(none, 1, -1), /BUG: no epoch/)
})

test('an epoch begins with a UTC day that is far enough ahead', async t => {
  const at = (nowUs: number, aheadHours: number) => nextEpochUs(nowUs, (aheadHours * dayUs) / 24)
  t.equal(at(10 * dayUs + 1, 2), 11 * dayUs)
  t.equal(at(10 * dayUs + (22 * dayUs) / 24, 2), 11 * dayUs)
  t.equal(at(10 * dayUs + (22 * dayUs) / 24 + 1, 2), 12 * dayUs)
})
