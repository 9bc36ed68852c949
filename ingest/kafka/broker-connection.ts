/** A connection to Kafka, to one broker at a time, on which one request waits for the other. */

import { isIP } from 'node:net'
import type { Connection } from '@platformatic/kafka'
import { createMutex } from '../../limits/mutex.ts'
import { messageOf, NotSent, OtherKafka, Refused, TooLate, Unanswered } from './kafka-errors.ts'
import type { KafkaIdentity } from './kafka-identity.ts'

export type Library = typeof import('@platformatic/kafka')

export interface Broker {
  host: string
  port: number
}

/** Plain data, so that it can go to a thread. */
export interface ConnectionSettings {
  clientId: string
  /** `ca`: certificates of authorities in PEM; without it those of Node. */
  tls?: { ca?: string | undefined } | undefined
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string } | undefined
  /** What PostgreSQL knows of the journal: no other cluster or topic is used. */
  identity?: KafkaIdentity | undefined
}

export interface BrokerConnection {
  /**
   * What the broker answers. Throws `NotSent`, `Refused`, or `Unanswered` after `timeoutMs` or when the connection is cut;
   * then the connection is closed, so that a late answer is not taken for another one's. `send` may throw `TooLate` instead of
   * sending. Throws `OtherKafka` when the broker, which each new connection asks, is of another cluster.
   */
  request<Answer>(broker: Broker, timeoutMs: number, send: (to: Connection) => Promise<Answer>): Promise<Answer>
  /** Cuts it, with the request that is under way; later ones are not sent. */
  close(): void
}

/** A broker behind it is away: it is asked elsewhere meanwhile. */
const connectTimeoutMs = 3000
/** Never reached, as we have timeouts of our own, by request. */
const libraryTimeoutMs = 10 * 60_000

export function createBrokerConnection(library: Library, settings: ConnectionSettings): BrokerConnection {
  const mutex = createMutex()
  let current: { connection: Connection; broker: Broker } | undefined
  let isClosed = false

  function drop(): void {
    // Not `close()`, which waits until a frozen broker has taken what was written.
    current?.connection.socket?.destroy()
    current = undefined
  }

  async function connectTo(broker: Broker): Promise<Connection> {
    if (isClosed) throw new NotSent('the connection was closed')
    if (current?.connection.isConnected() && isSame(current.broker, broker)) return current.connection
    drop()
    const connection = new library.Connection(settings.clientId, optionsFor(broker, settings))
    // Each request is told by itself that the connection failed.
    connection.on('error', () => undefined)
    current = { connection, broker }
    try {
      await connection.connect(broker.host, broker.port)
      await within(connectTimeoutMs, verify(connection, broker))
    } catch (error) {
      drop()
      if (error instanceof OtherKafka) throw error
      throw new NotSent(`${nameOf(broker)}: ${causeOf(error)}`)
    }
    if (isClosed) {
      drop()
      throw new NotSent('the connection was closed')
    }
    return connection
  }

  /** An address may lead to another cluster than before, which takes what comes under the same name of a topic. */
  async function verify(to: Connection, broker: Broker): Promise<void> {
    const clusterId = settings.identity?.clusterId
    if (clusterId === undefined) return
    const { clusterId: found } = await library.metadataV12.api.async(to, [], false)
    if (found === clusterId) return
    throw new OtherKafka(`${nameOf(broker)} is of the cluster ${found}, and the journal is in the cluster ${clusterId}`)
  }

  return {
    request: (broker, timeoutMs, send) =>
      mutex.run(async () => {
        const connection = await connectTo(broker)
        try {
          return await within(timeoutMs, send(connection))
        } catch (error) {
          if (error instanceof TooLate) throw error
          if (error instanceof library.ResponseError) throw refusalOf(error)
          drop()
          throw new Unanswered(`${nameOf(broker)}: ${causeOf(error)}`)
        }
      }),
    close() {
      isClosed = true
      drop()
    },
  }
}

function optionsFor({ host }: Broker, { tls, sasl }: ConnectionSettings) {
  const timeouts = { connectTimeout: connectTimeoutMs, requestTimeout: libraryTimeoutMs }
  // The name that is asked for (SNI) must not be an address.
  const secured =
    tls === undefined ? {} : { tls: tls.ca === undefined ? {} : { ca: tls.ca }, tlsServerName: isIP(host) === 0 }
  return { ...timeouts, ...secured, ...(sasl === undefined ? {} : { sasl }) }
}

async function within<Answer>(timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The error of the partition stands behind those of its records. */
function refusalOf({ errors }: { errors: unknown[] }): Refused {
  const { apiId, serverErrorMessage } = errors.at(-1) as { apiId: string; serverErrorMessage?: string | null }
  return new Refused(apiId, serverErrorMessage)
}

/** The library says that it failed, and in the cause why. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `${messageOf(error)} ${causeOf(error.cause)}` : ''
  return cause || messageOf(error)
}

export function isSame(one: Broker, other: Broker | undefined): boolean {
  return one.host === other?.host && one.port === other.port
}

function nameOf({ host, port }: Broker): string {
  return `${host}:${port}`
}
