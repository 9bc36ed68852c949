/** The placement in memory, of a real PostgreSQL, by a clock of the test. */

import t from 'tap'
import { addEpoch } from '../../ingest/kafka/placement-rows.ts'
import { withAddedShard } from '../../placement/added-shard.ts'
import { oneShard } from '../../placement/placement.ts'
import { warnOfTopicLetters, watchPlacement } from '../../service/watch-placement.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import { nowhere, recordingLog, silentLog, startDatabases } from '../support/databases.ts'

const { store } = await startDatabases(t, nowhere)
const { postgres } = store
const fromMs = Date.UTC(2026, 10, 30)
const one = await watchPlacement({ postgres, shardCount: 1, log: silentLog })
t.teardown(() => one.close())
const shards = withAddedShard(oneShard[0]?.shards as Uint8Array, 1)

t.test('without an epoch all is on shard 1, and epochs come behind it in their order', async t => {
  t.strictSame(one.current(), oneShard)
  t.equal(one.issue(), undefined)
  const add = (fromUs: number) =>
    inTransaction(postgres, { stepMs: 10_000 }, transaction => addEpoch(transaction, () => ({ fromUs, shards })))
  t.strictSame(await add(fromMs * 1000), { fromUs: fromMs * 1000, shards })
  await t.rejects(add(fromMs * 1000 + 1), { message: /shard_placements_from_us_check/ }, 'days are whole')
})

t.test('a process that lacks a shard says so, and with shard 1 alone from which time on', async t => {
  const { log, texts } = recordingLog('error')
  const watch = await watchPlacement({ postgres, shardCount: 1, log })
  t.teardown(() => watch.close())
  t.strictSame(watch.current(), [...oneShard, { fromUs: fromMs * 1000, shards }])
  const text = 'there are 2 shards, and QUESTDB_SHARDS of this process names those up to 1: set it and start it again'
  t.equal(watch.issue(), text)
  t.strictSame(texts, [text])
  t.equal(watch.othersFrom(fromMs - 1), undefined)
  t.equal(watch.othersFrom(fromMs), text)
  t.strictSame(watch.until(fromMs - 1), oneShard, 'no reading is on it yet')
  t.strictSame(watch.until(fromMs), watch.current())
  const both = await watchPlacement({ postgres, shardCount: 2, log: silentLog })
  t.teardown(() => both.close())
  t.equal(both.issue(), undefined)
  t.strictSame(both.until(fromMs - 1), both.current())
})

t.test('what was looked up too long ago places nothing, also after the machine was suspended', async t => {
  // The clock that never steps stands still then.
  let wallMs = 1_000_000
  const watch = await watchPlacement({ postgres, shardCount: 2, log: silentLog, wallMs: () => wallMs })
  t.teardown(() => watch.close())
  wallMs += 1_799_999
  t.equal(watch.refusal(), undefined)
  wallMs++
  t.match(watch.refusal(), 'could not be looked up in PostgreSQL for half an hour')
})

t.test('dead letters of topics are told to who starts with journals on disk', async t => {
  const { log, texts } = recordingLog('warn')
  await warnOfTopicLetters(postgres, log)
  t.strictSame(texts, [])
  await postgres.query(
    `INSERT INTO shard_dead_letters (topic, id, at, reason, series, symbol, time, "values", record)
     VALUES ('barograph-readings-s1', 1, now(), 'refused', 1, 'kitchen', '2026-01-01T00:00:00Z', '{}', '')`,
  )
  await warnOfTopicLetters(postgres, log)
  t.strictSame(texts, ['there are dead letters of Kafka topics, which are listed with KAFKA_BROKERS only'])
})
