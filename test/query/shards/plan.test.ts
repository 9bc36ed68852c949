/** Where queries are told to read, and how figures of two shards are put together, without a database. */

import t, { type Test } from 'tap'
import { bucketCount, bucketOf, type Placement } from '../../../placement/placement.ts'
import { createAvailabilityLog } from '../../../query/availability-log.ts'
import { joinedFigures } from '../../../query/export/placed-buckets.ts'
import type { HourSources } from '../../../query/questdb/hourly-sql.ts'
import { createAnsweringShards } from '../../../query/shards/answering-shards.ts'
import { createReadsPlan } from '../../../query/shards/device-reads.ts'
import { silentLog } from '../../support/databases.ts'

const dayUs = 86_400_000_000
const { NEGATIVE_INFINITY: ever, POSITIVE_INFINITY: always } = Number
const [moved, stays] = [1, 2]

/** The one device is on shard 1 until day 10, on shard 2 until day 20, and then on 3; the other one is on 2. */
const placement: Placement = [ever, 10 * dayUs, 20 * dayUs].map((fromUs, epoch) => {
  const shards = new Uint8Array(bucketCount).fill(2)
  shards[bucketOf(moved)] = epoch + 1
  return { fromUs, shards }
})

/** Days before which readings have expired, by shard. */
function planWith(...expiredDays: number[]) {
  const hourSources = (shard: number): HourSources => ({
    rawFromUs: (30 + shard) * dayUs,
    expiredBeforeUs: (expiredDays[shard - 1] as number) * dayUs,
  })
  return createReadsPlan({ placement: () => placement, hourSources })
}

t.test('what has expired of a device that has moved', async t => {
  const gives = (expiredDays: number[], expiredDay: number, rawFromDay: number, behind: number[]) => {
    const { hourSources, needed } = planWith(...expiredDays).ofDevice(moved)
    const expected = { expiredBeforeUs: expiredDay * dayUs, rawFromUs: rawFromDay * dayUs }
    t.strictSame({ hourSources, behind: needed.behind }, { hourSources: expected, behind }, expiredDays.join())
  }
  gives([5, 5, 5], 5, 31, [])
  // Some of them have not come to it yet, or are a day ahead.
  gives([5, 6, 4], 5, 31, [])
  gives([10, 9, 9], 10, 32, [])
  gives([9, 10, 10], 9, 31, [])
  gives([12, 12, 13], 12, 32, [])
  gives([25, 25, 25], 25, 33, [])
  // The readings of the second one are all that there is of its days.
  gives([8, 12, 12], 12, 32, [1])
  gives([ever, 12, 12], 12, 32, [1])
  gives([8, 12, 22], 22, 33, [1, 2])
  gives([ever, ever, ever], ever, 31, [])
})

t.test('what the others are told', async t => {
  const plan = planWith(7, 5, 6)
  t.match(plan.ofDevice(stays), {
    places: [{ shard: 2, fromUs: ever, toUs: always }],
    hourSources: { expiredBeforeUs: 5 * dayUs, rawFromUs: 32 * dayUs },
    needed: { shards: [2], isEachRead: true },
  })
  t.strictSame(plan.commonHourSources(), { expiredBeforeUs: 5 * dayUs, rawFromUs: 31 * dayUs })
  const devices = [{ number: moved }, { number: stays }]
  const shardsOf = (...[of, from, to]: [typeof devices | undefined, number, number]) =>
    plan.ofMany(of, from * dayUs, to * dayUs).shards
  t.strictSame(shardsOf(undefined, ever, always), [1, 2, 3])
  t.strictSame(shardsOf(undefined, 12, 15), [2])
  t.strictSame(shardsOf(devices, 5, 15), [1, 2])
  t.strictSame(shardsOf(devices.slice(1), 5, 25), [2])
  t.strictSame(shardsOf([], 5, 25), [])
})

t.test('which shards are away, and what is told of them', async t => {
  const answers = [true, false, true]
  const answering = createAnsweringShards(3, shard => answers[shard - 1] ?? false)
  const awayOf = (shards: number[], behind: number[] = []) => answering.awayAmong({ shards, behind, isEachRead: true })
  t.strictSame(awayOf([1, 3]), [], 'without waiting')
  t.strictSame(awayOf([1, 3], [1]), [1])
  t.strictSame(await awayOf([1, 2]), [2])
  t.strictSame(await awayOf([1, 2, 3], [3]), [2, 3])
  t.match(answering.failure(2), { ok: false, code: 'DATABASE_AWAY', shard: 2 })
  t.notOk('shard' in createAnsweringShards(1, () => false).failure(1))
})

t.test('each shard that stops and that answers again is logged once', async t => {
  const lines: unknown[] = []
  const note = (...words: unknown[]) => void lines.push(words)
  const log = createAvailabilityLog({ ...silentLog, info: note, warn: note })
  const away = (shard: number) => ({ ok: false, code: 'DATABASE_AWAY', reason: 'why', shard }) as const
  const needed = (...shards: number[]) => ({ shards, isEachRead: true })
  for (const shard of [2, 2, 3]) log(away(shard), needed(1, 2, 3))
  log({ ok: true, encoded: {} }, needed(1, 3))
  log({ ok: true, encoded: {} }, { shards: [2, 3], isEachRead: false })
  log(away(2), needed(2))
  log({ ok: true, encoded: {} }, needed(2))
  const failed = 'query failed: QuestDB unavailable'
  t.strictSame(lines, [
    [{ code: 'DATABASE_AWAY', reason: 'why', shard: 2 }, failed],
    [{ code: 'DATABASE_AWAY', reason: 'why', shard: 3 }, failed],
    [{ shard: 3 }, 'QuestDB answers queries again'],
    [{ shard: 2 }, 'QuestDB answers queries again'],
  ])
})

t.test('figures of one bucket from two shards', async (t: Test) => {
  const columns = (...rows: number[][]) =>
    rows[0]?.map((_, column) => Float64Array.from(rows, row => row[column] as number)) as [Float64Array, Float64Array]
  const joinings = ['key', 'key', 'sum', { meanBy: 2 }, 'min', 'max', 'last'] as const
  const before = columns([60, 7, 2, 10, 9, 11, 11], [120, 7, 3, 5, 1, 9, 4], [120, 8, 1, 2, 2, 2, 2])
  const after = columns([120, 7, 1, 9, 9, 9, 9], [120, 9, 1, 3, 3, 3, 3], [180, 7, 0, Number.NaN, 1, 1, 1])
  const joined = joinedFigures([before, after], joinings)
  const rows = Array.from(joined[0], (_, row) => joined.map(column => column[row]))
  t.strictSame(rows, [
    [60, 7, 2, 10, 9, 11, 11],
    [120, 7, 4, 6, 1, 9, 9],
    [120, 8, 1, 2, 2, 2, 2],
    [120, 9, 1, 3, 3, 3, 3],
    [180, 7, 0, Number.NaN, 1, 1, 1],
  ])
  const empty = joinedFigures([columns([1, 1, 0, Number.NaN, 5, 5, 5]), columns([1, 1, 2, 4, 4, 6, 6])], joinings)
  t.strictSame(
    empty.map(column => column[0]),
    [1, 1, 2, 4, 4, 6, 6],
  )
  t.strictSame(joinedFigures([], ['key', 'sum']), [new Float64Array(0), new Float64Array(0)])
})
