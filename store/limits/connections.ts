/** Limits connections in total and per address, and closes those that would delay a stop. */

import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Log } from '../log.ts'
import { Capacity } from './capacity.ts'
import { networkOf } from './networks.ts'
import { areFilesExhausted, isOutOfFiles } from './open-files.ts'

export interface ConnectionsOptions {
  max: number
  perAddress: number
  /** Matches proxies: each of their addresses stands for many clients. */
  isTrusted: (address: string) => boolean
  log: Log
}

export interface Connections {
  /** Applies the limits to a server before it listens. */
  bound(server: Server | HttpServer): void
  /** Readiness fault: why connections are refused now or were recently. */
  fault(): string | undefined
  /** Each response ends its connection from now on, so that the next request goes to another node. */
  drain(): void
  isDraining(): boolean
  /** Closes connections when they become idle, and after a grace period the rest. Resolves at once. */
  closeAll(): void
}

const idleSweepMs = 100
/** Time limit for open requests when the stop begins. The databases need a part of the five seconds too. */
const finishMsMax = 2000
/** Readiness shows a refusal for this long. Refusals are logged at most this often. */
const recentMs = 60_000

export function createConnections({ max, perAddress, isTrusted, log }: ConnectionsOptions): Connections {
  const servers = new Set<Server | HttpServer>()
  let isDraining = false
  /** Keys are networks. */
  const sockets = new Capacity<Socket>({ max })
  const full = createIncident(() => log.warn({ max }, 'connections refused: limit reached (CONNECTIONS_MAX)'))
  const filesOut = createIncident(() => log.warn({}, 'connections refused: out of file descriptors'))
  const greedy = createIncident(address =>
    log.warn({ address, perAddress }, 'connections refused: limit per address reached (CONNECTIONS_PER_ADDRESS)'),
  )

  function take(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const key = networkOf(address)
    if (sockets.isFull()) refuse(socket, full)
    else if (sockets.amountOf(key) >= perAddress && !isTrusted(address)) refuse(socket, greedy, address)
    else if (sockets.take(socket, [key])) socket.once('close', () => sockets.release(socket))
  }

  function refuse(socket: Socket, reason: Incident, detail = ''): void {
    reason.note(detail)
    socket.destroy()
  }

  return {
    bound(server) {
      servers.add(server)
      // Node's limit is cheaper than our own check of the connection, which counts all servers together.
      server.maxConnections = max
      server.on('drop', () => full.note(''))
      // With TLS these are the underlying sockets, so they include sockets that never complete the handshake.
      server.on('connection', take)
      server.on('error', error => {
        if (isOutOfFiles(error)) filesOut.note('')
        // The start reports its own faults.
        else if (server.listening) log.error({ err: error }, 'could not accept a connection')
      })
    },
    fault() {
      if (areFilesExhausted() || filesOut.isRecent()) return 'the process is out of file descriptors'
      return full.isRecent() ? `connections were refused: limit of ${max} reached` : undefined
    },
    drain() {
      isDraining = true
    },
    isDraining: () => isDraining,
    closeAll() {
      // A connection busy when the stop began becomes idle afterwards, and would stay open for its keep-alive time.
      const sweep = setInterval(() => {
        for (const server of servers) if ('closeIdleConnections' in server) server.closeIdleConnections()
      }, idleSweepMs)
      // A client may send nothing, send half a request or not read its answer. Node checks no time limit once a server closes.
      const cut = setTimeout(() => {
        for (const socket of sockets.holders()) socket.destroy()
        clearInterval(sweep)
      }, finishMsMax)
      const [main] = servers
      main?.once('close', () => {
        clearInterval(sweep)
        clearTimeout(cut)
      })
    },
  }
}

interface Incident {
  note(detail: string): void
  isRecent(): boolean
}

/** An event that may happen a thousand times a second: logged the first time, then once a minute. */
function createIncident(report: (detail: string) => void): Incident {
  let notedMs = Number.NEGATIVE_INFINITY
  let loggedMs = Number.NEGATIVE_INFINITY
  return {
    note(detail) {
      notedMs = performance.now()
      if (notedMs - loggedMs < recentMs) return
      loggedMs = notedMs
      report(detail)
    },
    isRecent: () => performance.now() - notedMs < recentMs,
  }
}
