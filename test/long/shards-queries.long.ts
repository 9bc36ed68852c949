/** Reads over two shards against the same reads over one QuestDB with the same rows, byte for byte. */

import t, { type Test } from 'tap'
import { createQuery, type Query, type QueryOptions } from '../../query/query.ts'
import { allFromReadings } from '../../query/questdb/hourly-sql.ts'
import { stays } from '../query/query-at.ts'
import { silentLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { allReads, textIn } from './all-reads.ts'
import {
  devices,
  expiredBeforeUs,
  names,
  nothingElse,
  nowMs,
  placement,
  startMadeShards,
  startMs,
  throughGate,
} from './made-shards.ts'

const { whole, shards } = await startMadeShards(t)
const one = { shards: [whole.address] }
const two = { shards: shards.map(({ address }) => address), placement: () => placement }
const unhurried = { timeoutMs: 600_000, connectTimeoutMs: 600_000 }

function queryOf(t: Test, options: Pick<QueryOptions, 'shards'> & Partial<QueryOptions>): Query {
  const query = createQuery({
    timeZone: 'Europe/Berlin',
    now: () => nowMs,
    revision: () => 0,
    log: silentLog,
    ...options,
    limits: { ...unhurried, ...options.limits },
  })
  t.teardown(() => query.close())
  return query
}

async function differences(ofOne: Query, ofTwo: Query): Promise<string[]> {
  const [expected, found] = [await allReads(ofOne), await allReads(ofTwo)]
  const different = Object.keys(expected).filter(what => expected[what] !== found[what])
  return different.map(what => `${what}: ${expected[what]?.slice(0, 2000)}\n\n${found[what]?.slice(0, 2000)}`)
}

t.test('every read of devices that have moved is as of one QuestDB', async t => {
  t.strictSame(await differences(queryOf(t, one), queryOf(t, two)), [])
})

t.test('also where hours are of the view, and of readings that have expired', async t => {
  const ofOne = { rawFromUs: Number.POSITIVE_INFINITY, expiredBeforeUs }
  // One of them lacks what has come since.
  const ofShard = (shard: number) => (shard === 1 ? ofOne : { ...ofOne, rawFromUs: Date.UTC(2026, 4, 15) * 1000 })
  const [expected, found] = [{ hourSources: () => ofOne }, { hourSources: ofShard }]
  t.strictSame(await differences(queryOf(t, { ...one, ...expected }), queryOf(t, { ...two, ...found })), [])
})

t.test('also where the latest readings are thinned to means', async t => {
  for (const latestBytesMax of [1500, 20_000, 60_000]) {
    const limits = { latestBytesMax }
    const [expected, found] = [queryOf(t, { ...one, limits }), queryOf(t, { ...two, limits })]
    for (const hours of [24, 200, 700]) {
      const text = textIn(await expected.latestAll(hours, () => all))
      t.equal(textIn(await found.latestAll(hours, () => all)), text, `${hours} hours in ${latestBytesMax} bytes`)
    }
  }
})

const all = names.map(name => devices[name])

t.test('a shard that is away fails what needs it with its number, and nothing else', async t => {
  const gate = await openGate(t, shards[1].address.pg)
  const addresses = [shards[0].address, throughGate({ ...shards[1].address, pg: gate.address })]
  let answers = true
  const query = queryOf(t, { ...two, shards: addresses, questdbAnswers: async shard => shard === 1 || answers })
  const away = 'DATABASE_AWAY of shard 2'
  const dayOf = async (name: keyof typeof devices, date: string) =>
    textIn(await query.day(devices[name], date, stays()))
  const statsOf = async (name: keyof typeof devices) =>
    textIn(await query.stats(devices[name], { days: 1, stepSeconds: undefined, further: [] }, stays()))
  await gate.shut()
  for (const isKnown of [false, true]) {
    answers = !isKnown
    t.equal(await dayOf('second', '2026-05-16'), away)
    t.match(await dayOf('first', '2026-05-16'), /^\{"temperature":\[\{/)
    t.match(await dayOf('moved', '2026-05-16'), /^\{"temperature":\[\{/, 'from before it moved')
    t.equal(await dayOf('moved', '2026-05-20'), away, 'a part of the day is there')
    t.equal(await statsOf('moved'), away)
    t.match(await statsOf('first'), /"device":"first"/)
    t.equal(textIn(await query.latestAll(24, () => all)), away)
    t.match(textIn(await query.latestOf(10, [devices.first, devices.other], stays())), /"device":"other"/)
    t.equal(textIn(await query.latestOf(24, [devices.first, devices.other], stays())), away, 'from before it moved')
    t.equal(textIn(await query.insights(nothingElse).all(() => all)), away)
    const compared = query.compare(
      devices.first,
      devices.second,
      { further: [], preset: '7d', withTimes: false },
      stays(),
    )
    t.equal(textIn(await compared), away)
    const range = { fromUs: startMs * 1000, toUs: nowMs * 1000 + 1 }
    t.match(await query.fleetRows('fleetLast', range, stays()), { ok: false, code: 'DATABASE_AWAY', shard: 2 })
  }
})

t.test('one QuestDB alone is not named', async t => {
  const gate = await openGate(t, whole.address.pg)
  const query = queryOf(t, { shards: [throughGate({ ...whole.address, pg: gate.address })] })
  await gate.shut()
  t.strictSame(await query.day(devices.first, '2026-05-16', stays()), { ok: false, code: 'DATABASE_AWAY' })
  const hourSources = () => allFromReadings
  const probed = queryOf(t, { ...one, hourSources, questdbAnswers: () => false })
  t.strictSame(await probed.day(devices.first, '2026-05-16', stays()), { ok: false, code: 'DATABASE_AWAY' })
})
