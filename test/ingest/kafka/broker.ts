/**
 * The one broker of these tests, and databases to which it is forwarded. The broker has a
 * listener of clients, one behind a proxy, and one that asks for TLS and a password.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../../store/process/free-port.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { startDatabases, temporaryFolder } from '../../support/databases.ts'
import { startKafka } from '../../support/kafka.ts'
import { startKafkaProxy } from '../../support/kafka-proxy.ts'

const folder = temporaryFolder(t)
const { key, cert: certPath } = makeCertificate(folder)
const keystore = join(folder, 'keystore.pem')
writeFileSync(keystore, readFileSync(key, 'utf8') + readFileSync(certPath, 'utf8'))
const security = 'org.apache.kafka.common.security'
const scram = `${security}.scram.ScramLoginModule required;`

export const cert = readFileSync(certPath, 'utf8')
export const privateKey = readFileSync(key, 'utf8')
export const securedPort = await freePort()
export const proxy = await startKafkaProxy(t)
proxy.targetPort = await freePort()

export const kafka = await startKafka(t, {
  settings: (_id, port, controllerPort) => {
    const secured = `SECURED://127.0.0.1:${securedPort}`
    const listeners = [`CLIENT://127.0.0.1:${port}`, `PROXIED://127.0.0.1:${proxy.targetPort}`, secured]
    return {
      listeners: [...listeners, `CONTROLLER://127.0.0.1:${controllerPort}`].join(),
      'advertised.listeners': listeners.join().replace(`:${proxy.targetPort}`, `:${proxy.port}`),
      'listener.security.protocol.map': 'CLIENT:PLAINTEXT,PROXIED:PLAINTEXT,SECURED:SASL_SSL,CONTROLLER:PLAINTEXT',
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
      // A certificate of a client has to be one that the broker trusts.
      'listener.name.secured.ssl.client.auth': 'requested',
      'listener.name.secured.oauthbearer.sasl.jaas.config': `${security}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";`,
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': keystore,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': certPath,
      'listener.name.secured.plain.sasl.jaas.config': `${security}.plain.PlainLoginModule required user_node="secret";`,
      'listener.name.secured.scram-sha-256.sasl.jaas.config': scram,
      'listener.name.secured.scram-sha-512.sasl.jaas.config': scram,
      'log.retention.check.interval.ms': '200',
      'log.segment.delete.delay.ms': '100',
      'producer.id.expiration.check.interval.ms': '100',
    }
  },
})

export const client = await kafka.connect()
export const { store } = await startDatabases(t)
await store.questdb.ready
