/** A broker that asks for TLS and a password. */

import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { alterUserScramCredentialsV0, Connection } from '@platformatic/kafka'
import t from 'tap'
import type { Kafka } from '../../../ingest/kafka/connect.ts'
import { appendText, textsOf } from '../../support/kafka.ts'
import { until } from '../../support/processes.ts'
import { cert, kafka, securedPort } from './broker.ts'

const brokers = [`127.0.0.1:${securedPort}`]
const tls = { ca: cert }
const plain = { mechanism: 'PLAIN', username: 'node', password: 'secret' } as const

t.test('with the authority and the password groups are stored, by any mechanism', async t => {
  await addScramUser('node', 'secret')
  const admin = (await kafka.connect({ brokers, tls, sasl: plain })).admin
  await admin.create({ name: 'secured', partitions: 1, replication: 1 })
  for (const [offset, mechanism] of (['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const).entries()) {
    const client = await kafka.connect({ brokers, tls, sasl: { ...plain, mechanism } })
    // The broker learns of the user from its controller.
    await until(`${mechanism} is taken`, async () => await isTaken(client))
    const partition = await client.partition('secured')
    t.strictSame(await appendText(partition, mechanism), { outcome: 'stored', offset }, mechanism)
    t.equal((await textsOf(partition)).length, offset + 1)
  }
})

t.test('without the authority, the password or TLS no broker answers, and the reason is told', async t => {
  const reason = async (options: Parameters<typeof kafka.connect>[0]) => {
    const client = await kafka.connect({ brokers, requestTimeoutMs: 10_000, ...options })
    return await client.partition('secured').then(
      () => 'there is one',
      (error: Error) => `${error.name}: ${error.message}`,
    )
  }
  t.match(await reason({ tls: {}, sasl: plain }), /^KafkaAway: .*self-signed certificate/)
  t.match(await reason({ tls, sasl: { ...plain, password: 'other' } }), /^KafkaAway: .*[Aa]uthentication/)
  t.match(await reason({ tls }), /^KafkaAway: /)
  t.match(await reason({}), /^KafkaAway: /)
})

async function isTaken(client: Kafka): Promise<boolean> {
  return await client.admin.partitions('secured').then(
    () => true,
    () => false,
  )
}

/** For both mechanisms, as `kafka-configs --alter --add-config` does it. */
async function addScramUser(name: string, password: string): Promise<void> {
  const connection = new Connection('test', { tls, sasl: plain })
  await connection.connect('127.0.0.1', securedPort)
  const iterations = 4096
  for (const [mechanism, digest, length] of [
    [1, 'sha256', 32],
    [2, 'sha512', 64],
  ] as const) {
    const salt = randomBytes(16)
    const saltedPassword = pbkdf2Sync(password, salt, iterations, length, digest)
    const user = { name, mechanism, iterations, salt, saltedPassword }
    await alterUserScramCredentialsV0.api.async(connection, [], [user])
  }
  await connection.close()
}
