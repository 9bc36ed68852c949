/** A broker that requires TLS and a password. */

import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { alterUserScramCredentialsV0, Connection } from '@platformatic/kafka'
import t from 'tap'
import { createTokenProvider } from '../../../ingest/kafka/client/broker-connection.ts'
import type { Kafka } from '../../../ingest/kafka/client/connect.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { temporaryFolder } from '../../support/databases.ts'
import { appendText, textsOf } from '../../support/kafka.ts'
import { startProvider } from '../../support/oauth-provider.ts'
import { until } from '../../support/processes.ts'
import { cert, kafka, privateKey, securedPort } from './broker.ts'

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

t.test('connections without the authority, the password or TLS fail with the reason', async t => {
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

t.test("a client's certificate is accepted only if the broker trusts it", async t => {
  const admits = async (given: object) => {
    const client = await kafka.connect({ brokers, tls: { ...tls, ...given }, sasl: plain, requestTimeoutMs: 10_000 })
    return await isTaken(client)
  }
  t.ok(await admits({ cert, key: privateKey }))
  const other = makeCertificate(temporaryFolder(t))
  t.notOk(await admits({ cert: readFileSync(other.cert, 'utf8'), key: readFileSync(other.key, 'utf8') }))
})

t.test('a token of an authorization server is used until it expires', async t => {
  const provider = await startProvider(t)
  const nowSeconds = Math.floor(Date.now() / 1000)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = `${part({ alg: 'none' })}.${part({ sub: 'node', iat: nowSeconds, exp: nowSeconds + 3600 })}.`
  provider.answerWith(response => response.end(JSON.stringify({ access_token: token, expires_in: 3600 })))
  const oauth = { tokenUrl: provider.url, clientId: 'node', clientSecret: 'p', scope: 'kafka' }
  const sasl = { mechanism: 'OAUTHBEARER', oauth } as const
  const client = await kafka.connect({ brokers, tls, sasl })
  const partition = await client.partition('secured')
  t.match(await appendText(partition, 'by token'), { outcome: 'stored' })
  t.match(provider.forms[0], { grant_type: 'client_credentials', scope: 'kafka' })
  provider.answerWith(response => void response.writeHead(401).end())
  const refused = await kafka.connect({ brokers, tls, sasl })
  await t.rejects(refused.partition('secured'), { name: 'KafkaAway', message: /answers 401/ })

  provider.answerWith(response => response.end(JSON.stringify({ access_token: 'a', expires_in: 3600 })))
  const next = createTokenProvider(oauth)
  const { length } = provider.forms
  t.strictSame([await next(), await next(), provider.forms.length - length], ['a', 'a', 1])
})

async function isTaken(client: Kafka): Promise<boolean> {
  return await client.admin.partitions('secured').then(
    () => true,
    () => false,
  )
}

/** Adds the user for both mechanisms, like `kafka-configs --alter --add-config`. */
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
