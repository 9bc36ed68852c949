/** Listens for MQTT clients, within the connection limits shared with HTTP, and manages their sessions. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { SessionNotices } from '../../auth/nodes/session-notices.ts'
import type { Certificate } from '../../store/certificate.ts'
import type { Connections } from '../../store/limits/connections.ts'
import type { SenderLog } from '../rejections/rejections.ts'
import { type AuthenticateOptions, createAuthenticate } from './credentials.ts'
import { ByteAllowance } from './packet-reader.ts'
import type { CloseReason } from './reason-codes.ts'
import { MqttSession, type SessionOptions } from './session.ts'

export interface ListenerOptions
  extends Pick<SessionOptions, 'intake' | 'meter' | 'findDecoder' | 'grantsSubscriptions' | 'recent'>,
    Omit<AuthenticateOptions, 'meter'> {
  host: string
  port: number
  tls: Certificate | undefined
  connections: Pick<Connections, 'bound'>
  onClosed: (reason: CloseReason) => void
  senderLog: SenderLog
  /** Sessions at other nodes are notified by it. */
  sessionNotices?: SessionNotices | undefined
}

export interface Listener {
  port: number
  sessions(): number
  /** Finishes accepted messages, and closes. */
  close(): Promise<void>
}

/** Every session is checked once in ten of these intervals: a revoked credential ends its connection within that time. */
const checkMs = 50
const checksPerRound = 10
const handshakeMsMax = 10_000
const keepAliveDelayMs = 60_000
const finishMsMax = 2000
/** Both limits apply to all connections together. */
const partialBytesMax = 64 * 1024 * 1024
const aliasBytesMax = 64 * 1024 * 1024

/** Rejects when it cannot listen. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, tls, connections, intake, meter, senderLog, sessionNotices } = options
  const { findDecoder, grantsSubscriptions, recent } = options
  const sessions = new Set<MqttSession>()
  const named = new NamedSessions<MqttSession>(sessionNotices)
  const sessionOptions: SessionOptions = {
    intake,
    meter,
    findDecoder,
    grantsSubscriptions,
    recent,
    authenticate: createAuthenticate(options),
    budget: new ByteAllowance(partialBytesMax),
    aliasBudget: new ByteAllowance(aliasBytesMax),
    senderLog,
    onOpen: (session, name) => named.opened(session, name),
    onClosed(session, reason) {
      sessions.delete(session)
      named.closed(session)
      options.onClosed(reason)
    },
  }
  function begin(socket: Socket): void {
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveDelayMs)
    sessions.add(new MqttSession(socket, sessionOptions))
  }
  const server =
    tls === undefined ? createServer(begin) : createTlsServer({ ...tls, handshakeTimeout: handshakeMsMax }, begin)
  connections.bound(server)
  const sockets = socketsOf(server)
  // An aborted handshake is not worth a log line.
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
  await once(server.listen({ host, port }), 'listening')
  const checks = setInterval(createRounds(sessions), checkMs)
  let closing: Promise<void> | undefined
  return {
    port: (server.address() as AddressInfo).port,
    sessions: () => sessions.size,
    close() {
      closing ??= stop(server, sessions, sockets).finally(() => clearInterval(checks))
      return closing
    },
  }
}

/** Each call checks the next part of the sessions. */
function createRounds(sessions: ReadonlySet<MqttSession>): () => void {
  let round = sessions.values()
  return () => {
    const nowMs = performance.now()
    for (let left = Math.ceil(sessions.size / checksPerRound); left > 0; left--) {
      const { value, done } = round.next()
      if (done === true) {
        round = sessions.values()
        return
      }
      value.check(nowMs)
    }
  }
}

/** TLS servers have the underlying sockets, including those in the handshake. */
function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

async function stop(server: Server, sessions: ReadonlySet<MqttSession>, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const session of sessions) session.stop()
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, finishMsMax)
  await closed
  clearTimeout(cut)
}

interface Named {
  name: string
  openedAtMs: number
}

interface Closable {
  close(reason: 'taken_over'): void
}

/** Sessions with one credential and client identifier are equal: the later of two stays (MQTT 3.1.1 and 5, 3.1.4). */
export class NamedSessions<Session extends Closable> {
  readonly #notices: SessionNotices | undefined
  readonly #sessions = new Map<string, Session>()
  readonly #named = new Map<Session, Named>()

  /** With `notices`, other nodes have sessions, too. */
  constructor(notices: SessionNotices | undefined) {
    this.#notices = notices
    notices?.onBegun((name, agoMs) => this.#closeOlder(name, agoMs))
  }

  opened(session: Session, text: string): void {
    const name = this.#notices?.nameOf(text) ?? text
    this.#sessions.get(name)?.close('taken_over')
    this.#sessions.set(name, session)
    this.#named.set(session, { name, openedAtMs: performance.now() })
    this.#notices?.begun(name)
  }

  closed(session: Session): void {
    const name = this.#named.get(session)?.name
    this.#named.delete(session)
    if (name !== undefined && this.#sessions.get(name) === session) this.#sessions.delete(name)
  }

  #closeOlder(name: string, agoMs: number): void {
    const session = this.#sessions.get(name)
    const openedAtMs = session && this.#named.get(session)?.openedAtMs
    if (openedAtMs !== undefined && performance.now() - openedAtMs > agoMs) session?.close('taken_over')
  }
}
