import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { readConfig } from '../../../service/settings/config.ts'
import { kafkaSettings } from '../../../service/settings/kafka.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { temporaryFolder } from '../../support/databases.ts'

const read = (settings: Record<string, string>) => kafkaSettings(readConfig(settings))
const KAFKA_BROKERS = 'a:1,b:2'

test('without brokers there is no Kafka', async t => {
  t.equal(read({}), undefined)
})

test('TLS and SASL reach the client, and only where they are set', async t => {
  t.strictSame(read({ KAFKA_BROKERS }), {
    connection: { clientId: 'barograph', brokers: ['a:1', 'b:2'] },
    topicPrefix: 'barograph-',
    requirements: { replication: 3, retentionMs: 604_800_000 },
  })
  const sasl = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }
  t.strictSame(read({ KAFKA_BROKERS, KAFKA_TLS: 'true', ...sasl })?.connection, {
    clientId: 'barograph',
    brokers: ['a:1', 'b:2'],
    tls: {},
    sasl: { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' },
  })
})

test('a client certificate and a client of OAuth reach the client, and not in part', async t => {
  const { cert, key } = makeCertificate(temporaryFolder(t))
  const certificate = { KAFKA_TLS: 'true', KAFKA_TLS_CERT: cert, KAFKA_TLS_KEY: key }
  const pems = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  t.strictSame(read({ KAFKA_BROKERS, ...certificate })?.connection.tls, pems)
  const user = { KAFKA_SASL_MECHANISM: 'OAUTHBEARER', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }
  const tokenUrl = 'https://login.example/token'
  t.strictSame(
    read({ KAFKA_BROKERS, ...user, KAFKA_SASL_TOKEN_URL: tokenUrl, KAFKA_SASL_SCOPE: 's' })?.connection.sasl,
    {
      mechanism: 'OAUTHBEARER',
      oauth: { tokenUrl, clientId: 'u', clientSecret: 'p', scope: 's' },
    },
  )
  const refused = (settings: Record<string, string>, message: RegExp) =>
    t.throws(() => read({ KAFKA_BROKERS, ...settings }), { message })
  refused({ ...certificate, KAFKA_TLS: '' }, /KAFKA_TLS_CERT without KAFKA_TLS/)
  refused({ ...certificate, KAFKA_TLS_KEY: '' }, /KAFKA_TLS_CERT and KAFKA_TLS_KEY must be set together/)
  refused({ ...certificate, KAFKA_TLS_KEY: cert }, /KAFKA_TLS_KEY .*cert.pem cannot be used/)
  refused(user, /OAUTHBEARER, which needs KAFKA_SASL_TOKEN_URL/)
  refused({ ...user, KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_TOKEN_URL: tokenUrl }, /for OAUTHBEARER alone/)
})

test('the CA certificates are read at the start, and a file without any is refused', async t => {
  const folder = temporaryFolder(t)
  const { cert, key } = makeCertificate(folder)
  t.strictSame(read({ KAFKA_BROKERS, KAFKA_TLS: cert })?.connection.tls, { ca: readFileSync(cert, 'utf8') })
  const refused = (KAFKA_TLS: string, message: RegExp) =>
    t.throws(() => read({ KAFKA_BROKERS, KAFKA_TLS }), { name: 'StartError', message })
  refused(key, /KAFKA_TLS .*key.pem cannot be used .*: set it to true, or to a PEM file/)
  refused(join(folder, 'none.pem'), /none.pem cannot be used \(ENOENT\)/)
})
