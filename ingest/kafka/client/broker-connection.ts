/** A connection to Kafka, to one broker at a time, with one request at a time. */

import { isIP } from 'node:net'
import type { Connection } from '@platformatic/kafka'
import { z } from 'zod'
import { createMutex } from '../../../store/limits/mutex.ts'
import { packageVersion } from '../../../store/version.ts'
import { messageOf, NotSent, OtherKafka, Refused, TooLate, Unanswered } from './errors.ts'
import type { KafkaIdentity } from './identity.ts'

export type Library = typeof import('@platformatic/kafka')

export interface Broker {
  host: string
  port: number
}

/** Plain data, so that it can be posted to a thread. */
export interface ConnectionSettings {
  clientId: string
  /** `ca`: certificates of authorities in PEM, by default Node's. `cert` and `key`: client certificate. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined
  sasl?:
    | { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
    | { mechanism: 'OAUTHBEARER'; oauth: OauthClient }
    | undefined
  /** The journal's identity in PostgreSQL: no other cluster or topic is used. */
  identity?: KafkaIdentity | undefined
}

export interface BrokerConnection {
  /**
   * Returns the broker's answer. Throws `NotSent`, `Refused`, or `Unanswered` after `timeoutMs` or when the connection
   * breaks. Then the connection is closed, so that a late answer does not match a later request. `send` may throw
   * `TooLate` instead of sending. Each new connection checks the cluster, and throws `OtherKafka` for another one.
   */
  request<Answer>(broker: Broker, timeoutMs: number, send: (to: Connection) => Promise<Answer>): Promise<Answer>
  /** Closes the connection with its request. Later requests are not sent. */
  close(): void
}

/** A slower broker counts as unavailable, and another one is used meanwhile. */
const connectTimeoutMs = 3000
/** Limits connecting with TLS and sign-in: a broker or an authorization server may never answer. */
const readyTimeoutMs = 10_000
const clientName = 'barograph'
/** Kafka's name of the error. */
export const unsupportedVersion = 'UNSUPPORTED_VERSION'
/** Never reached, since each request has its own shorter timeout. */
const libraryTimeoutMs = 10 * 60_000

export function createBrokerConnection(library: Library, settings: ConnectionSettings): BrokerConnection {
  const mutex = createMutex()
  let current: { connection: Connection; broker: Broker } | undefined
  let isClosed = false
  const sasl = saslOf(settings)
  const clientVersion = packageVersion()

  function drop(): void {
    const dropped = current?.connection
    current = undefined
    // `close()` alone waits until a frozen broker has read all data. It also stops the timer of the next sign-in.
    dropped?.socket?.destroy()
    void dropped?.close().catch(() => undefined)
  }

  async function connectTo(broker: Broker): Promise<Connection> {
    if (isClosed) throw new NotSent('the connection was closed')
    if (current?.connection.isConnected() && isSame(current.broker, broker)) return current.connection
    drop()
    const connection = new library.Connection(settings.clientId, optionsFor(broker, settings, sasl))
    // Each request reports the broken connection itself.
    connection.on('error', () => undefined)
    current = { connection, broker }
    try {
      await within(readyTimeoutMs, Promise.resolve(connection.connect(broker.host, broker.port)))
      await within(readyTimeoutMs, verify(connection, broker))
    } catch (error) {
      drop()
      if (error instanceof OtherKafka || error instanceof Refused) throw error
      throw new NotSent(`${nameOf(broker)}: ${causeOf(error)}`)
    }
    if (isClosed) {
      drop()
      throw new NotSent('the connection was closed')
    }
    return connection
  }

  /** An address may lead to another cluster than before, which would accept records for a topic of the same name. */
  async function verify(to: Connection, broker: Broker): Promise<void> {
    const { apiKeys } = await library.apiVersionsV3.api.async(to, clientName, clientVersion)
    const lacking = missingVersions(library, apiKeys)
    if (lacking.length > 0) {
      const text = `${nameOf(broker)} lacks versions of requests (${lacking.join(', ')}): Kafka 3.1 or a newer one is needed`
      throw new Refused(unsupportedVersion, text)
    }
    const clusterId = settings.identity?.clusterId
    if (clusterId === undefined) return
    const { clusterId: found } = await library.metadataV12.api.async(to, [], false)
    if (found === clusterId) return
    throw new OtherKafka(
      `${nameOf(broker)} belongs to the cluster ${found}, but the journal is in the cluster ${clusterId}`,
    )
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

function saslOf({ sasl }: ConnectionSettings) {
  if (sasl?.mechanism !== 'OAUTHBEARER') return sasl
  return { mechanism: sasl.mechanism, token: createTokenProvider(sasl.oauth) }
}

function optionsFor({ host }: Broker, { tls }: ConnectionSettings, sasl: ReturnType<typeof saslOf>) {
  const timeouts = { connectTimeout: connectTimeoutMs, requestTimeout: libraryTimeoutMs }
  // The server name (SNI) must not be an IP address.
  const given = Object.fromEntries(Object.entries(tls ?? {}).filter(([, pem]) => pem !== undefined))
  const secured = tls === undefined ? {} : { tls: given, tlsServerName: isIP(host) === 0 }
  return { ...timeouts, ...secured, ...(sasl === undefined ? {} : { sasl }) }
}

interface VersionRange {
  apiKey: number
  minVersion: number
  maxVersion: number
}

/** Each request has the version of its module, so the broker has to support exactly that one. */
export function missingVersions(library: Library, ranges: readonly VersionRange[]): string[] {
  const needed = {
    Produce: library.produceV9.api,
    InitProducerId: library.initProducerIdV4.api,
    Fetch: library.fetchV13.api,
    ListOffsets: library.listOffsetsV7.api,
    Metadata: library.metadataV12.api,
    DescribeConfigs: library.describeConfigsV4.api,
  }
  return Object.entries(needed).flatMap(([name, { key, version }]) => {
    const range = ranges.find(({ apiKey }) => apiKey === key)
    if (range === undefined) return [`no ${name}`]
    const { minVersion, maxVersion } = range
    return version >= minVersion && version <= maxVersion
      ? []
      : [`${name} ${version}, it has ${minVersion} to ${maxVersion}`]
  })
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

/** The partition's error follows the errors of its records. */
function refusalOf({ errors }: { errors: unknown[] }): Refused {
  const { apiId, serverErrorMessage } = errors.at(-1) as { apiId: string; serverErrorMessage?: string | null }
  return new Refused(apiId, serverErrorMessage)
}

/** The library's error has the reason in its cause. */
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

/** Plain data, so that it can be posted to a thread. */
interface OauthClient {
  tokenUrl: string
  clientId: string
  clientSecret: string
  scope?: string | undefined
}

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() })

const answerMsMax = 3000
/** A token without an expiry is requested for each connection. */
const usedShare = 0.8

/** Requests a token when none is valid for long enough. Rejects with the reason. */
export function createTokenProvider({ tokenUrl, clientId, clientSecret, scope }: OauthClient): () => Promise<string> {
  let token: { text: string; untilMs: number } | undefined

  return async () => {
    const nowMs = performance.now()
    if (token !== undefined && nowMs < token.untilMs) return token.text
    const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':')
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}`, accept: 'application/json' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
      redirect: 'error',
      signal: AbortSignal.timeout(answerMsMax),
    })
    if (!response.ok) throw new Error(`${tokenUrl} answers ${response.status}`)
    const parsed = Token.safeParse(await response.json())
    if (!parsed.success) throw new Error(`${tokenUrl} returns no token`)
    const { access_token: text, expires_in = 0 } = parsed.data
    token = { text, untilMs: nowMs + 1000 * usedShare * expires_in }
    return text
  }
}

/** Offsets have 64 bits in Kafka, and are numbers here: 2^53 is not reached. */
export function offsetOf(offset: bigint): number {
  if (offset < 0n || offset > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Unanswered(`an answer with the offset ${offset}`)
  return Number(offset)
}
