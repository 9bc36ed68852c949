/** The QuestDBs of the replicas from 2 on, and which one is read. */

import { test } from 'tap'
import { readConfig } from '../../../service/settings/config.ts'

const kafka = {
  KAFKA_BROKERS: 'kafka-1:9092',
  QUESTDB_HTTP: 'http://q1:9000',
  QUESTDB_PG: 'postgresql://q1:8812/qdb',
}
const second = '2=http://u:a,b@q2:9000,postgresql://u:a,b@q2:8812/qdb'
const third = '3=https://q3,postgres://q3/qdb'

test('the replicas are read in their order', async t => {
  const config = readConfig({ ...kafka, QUESTDB_REPLICAS: ` ${second}\n${third} `, QUESTDB_READ: '3' })
  t.strictSame(config.QUESTDB_REPLICAS, [
    { number: 2, http: 'http://u:a,b@q2:9000', pg: 'postgresql://u:a,b@q2:8812/qdb' },
    { number: 3, http: 'https://q3', pg: 'postgres://q3/qdb' },
  ])
  t.equal(config.QUESTDB_READ, 3)
})

test('other lists are refused, without the passwords in them', async t => {
  const many = Array.from({ length: 8 }, (_, at) => `${at + 2}=http://q,postgres://q`).join(' ')
  for (const text of [third, `${third} ${second}`, `${second} ${second}`, '2=http://q2:9000', 'q2', '=', many]) {
    t.throws(() => readConfig({ ...kafka, QUESTDB_REPLICAS: text }), {
      message: /^Wrong settings: QUESTDB_REPLICAS must name the QuestDBs of the replicas from 2 on, such as [^ ]+\.$/,
    })
  }
})

test('a replica needs Kafka, and one that is read has to be there', async t => {
  t.throws(() => readConfig({ QUESTDB_REPLICAS: second }), {
    message: 'Wrong settings: QUESTDB_REPLICAS needs KAFKA_BROKERS, QUESTDB_HTTP and QUESTDB_PG.',
  })
  t.throws(() => readConfig({ ...kafka, QUESTDB_REPLICAS: second, QUESTDB_READ: '3' }), {
    message: 'Wrong settings: QUESTDB_READ names a replica that QUESTDB_REPLICAS does not.',
  })
})
