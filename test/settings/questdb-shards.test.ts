/** The QuestDBs of the shards from 2 on. */

import { test } from 'tap'
import { readConfig } from '../../settings/config.ts'

const kafka = {
  KAFKA_BROKERS: 'kafka-1:9092',
  QUESTDB_HTTP: 'http://q1:9000',
  QUESTDB_PG: 'postgresql://q1:8812/qdb',
}
const second = '2=http://u:a,b@q2:9000,postgresql://u:a,b@q2:8812/qdb'
const third = '3=https://q3,postgres://q3/qdb'

test('the shards are read in their order', async t => {
  t.strictSame(readConfig({ ...kafka, QUESTDB_SHARDS: ` ${second}\n${third} ` }).QUESTDB_SHARDS, [
    { http: 'http://u:a,b@q2:9000', pg: 'postgresql://u:a,b@q2:8812/qdb' },
    { http: 'https://q3', pg: 'postgres://q3/qdb' },
  ])
  t.equal(readConfig(kafka).QUESTDB_SHARDS, undefined)
})

test('what is no list of shards from 2 on is refused, without the passwords in it', async t => {
  const many = Array.from({ length: 32 }, (_, at) => `${at + 2}=http://q,postgres://q`)
  for (const text of [
    third,
    `${third} ${second}`,
    `${second} ${second}`,
    '2=http://q2:9000',
    'q2',
    '=',
    many.join(' '),
  ]) {
    t.throws(() => readConfig({ ...kafka, QUESTDB_SHARDS: text }), {
      message: /^Wrong settings: QUESTDB_SHARDS must name the QuestDBs of the shards from 2 on, such as [^ ]+\.$/,
    })
  }
})

test('without Kafka there is one shard', async t => {
  t.throws(() => readConfig({ QUESTDB_SHARDS: second }), {
    message: 'Wrong settings: QUESTDB_SHARDS needs KAFKA_BROKERS, QUESTDB_HTTP and QUESTDB_PG.',
  })
})
