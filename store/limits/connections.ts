/** Which connections are kept: so many in all, so many of one address, and none that would hold up a stop. */

import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Log } from '../log.ts'
import { Capacity } from './capacity.ts'
import { networkOf } from './networks.ts'
import { areFilesExhausted, isOutOfFiles } from './open-files.ts'

export interface ConnectionsOptions {
  max: number
  perAddress: number
  /** Proxies, behind whose addresses there are many clients. */
  isTrusted: (address: string) => boolean
  log: Log
}

export interface Connections {
  /** Applies the limits to a server that does not listen yet. */
  bound(server: Server | HttpServer): void
  /** Why connections are refused, or were a short while ago; for the readiness. */
  fault(): string | undefined
  /** From now on each response ends its connection, so that the next request goes elsewhere. */
  drain(): void
  isDraining(): boolean
  /** Closes what is idle or becomes so, and in the end the rest. Resolves at once. */
  closeAll(): void
}

const idleSweepMs = 100
/** What a request may still take when the stop begins; the databases need a part of the five seconds too. */
const finishMsMax = 2000
/** For so long a refusal stands in the readiness; no more often are refusals logged. */
const recentMs = 60_000

export function createConnections({ max, perAddress, isTrusted, log }: ConnectionsOptions): Connections {
  const servers = new Set<Server | HttpServer>()
  let isDraining = false
  /** By network. */
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
      // Costs less than our own look at the connection, which is for all servers together.
      server.maxConnections = max
      server.on('drop', () => full.note(''))
      // With TLS these are the sockets below it, so one that never shakes hands is among them too.
      server.on('connection', take)
      server.on('error', error => {
        if (isOutOfFiles(error)) filesOut.note('')
        // Faults of the start go to whoever starts it.
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
      // A connection that was busy when the stop began turns idle afterwards and would wait out its keep-alive time.
      const sweep = setInterval(() => {
        for (const server of servers) if ('closeIdleConnections' in server) server.closeIdleConnections()
      }, idleSweepMs)
      // A client that sends nothing, or half a request, or does not read its answer; Node itself looks at no time limit
      // any more once it closes.
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

/** Something that may happen a thousand times a second; it is logged the first time, and then once a minute. */
function createIncident(report: (detail: string) => void): Incident {
  let notedMs = Number.NEGATIVE_INFINITY
  let toldMs = Number.NEGATIVE_INFINITY
  return {
    note(detail) {
      notedMs = performance.now()
      if (notedMs - toldMs < recentMs) return
      toldMs = notedMs
      report(detail)
    },
    isRecent: () => performance.now() - notedMs < recentMs,
  }
}
