/**
 * Runs the requests of a connection one after the other (RFC 9112, 9.3.2). Node parses all pipelined requests of a read
 * of 64 KiB, a thousand or more, and would start all of them at once. In turn:
 *
 * - a client that pipelines delays others no longer than the same client without pipelining;
 * - requests after an answer that closes the connection are not processed (RFC 9112, 9.6).
 *
 * A connection with waiting requests is not read, so they come from one read.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of all connections, some 3 KB each. The connection that exceeds it is closed. */
const waitingMax = 20_000

export interface RequestQueueOptions {
  /** Starts a request. */
  start: RequestListener
  /** Called when the answer is sent before the body has ended. */
  onUnread: (request: IncomingMessage) => void
}

/** Listener for the `request` event of a server. */
export function queueRequests(options: RequestQueueOptions): RequestListener {
  const shared: Shared = { ...options, waitingCount: 0 }
  return (request, response) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = new Connection(socket, shared)
      connections.set(socket, connection)
    }
    connection.take(response)
  }
}

/** True if the connection is paused because of waiting requests. */
export function isHeld(socket: Socket): boolean {
  return (connections.get(socket)?.waiting.length ?? 0) > 0
}

interface Shared extends RequestQueueOptions {
  waitingCount: number
}

const connections = new WeakMap<Socket, Connection>()

class Connection {
  /** Responses of requests that have not started. */
  waiting: ServerResponse[] = []
  readonly #socket: Socket
  readonly #shared: Shared
  #isBusy = false
  #isWatched = false

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket
    this.#shared = shared
  }

  take(response: ServerResponse): void {
    // The connection is closing, or was closed for too many waiting requests.
    if (!this.#socket.writable) return
    if (this.#isBusy || this.waiting.length > 0) this.#wait(response)
    else this.#start(response)
  }

  #start(response: ServerResponse): void {
    this.#isBusy = true
    response.on('finish', noteFinish)
    this.#shared.start(response.req, response)
  }

  /** Called when the answer was sent. */
  finish({ req: request }: ServerResponse): void {
    this.#isBusy = false
    if (!this.#socket.writable) this.#drop()
    else if (!request.complete) this.#shared.onUnread(request)
    // Other connections have their turn first.
    else if (this.waiting.length > 0) setImmediate(() => this.#startNext())
  }

  #startNext(): void {
    const next = this.waiting.shift()
    if (next === undefined) return
    this.#shared.waitingCount--
    if (this.waiting.length === 0) this.#socket.resume()
    this.#start(next)
  }

  #wait(response: ServerResponse): void {
    if (!this.#isWatched) {
      this.#isWatched = true
      // Node resumes the connection after every parsed message.
      this.#socket.on('resume', () => {
        if (this.waiting.length > 0) this.#socket.pause()
      })
      this.#socket.once('close', () => this.#drop())
    }
    this.waiting.push(response)
    this.#shared.waitingCount++
    if (this.#shared.waitingCount <= waitingMax) {
      this.#socket.pause()
      return
    }
    this.#socket.destroy()
    this.#drop()
  }

  #drop(): void {
    this.#shared.waitingCount -= this.waiting.length
    this.waiting = []
  }
}

/** One function for all answers, which is cheaper than a closure each. */
function noteFinish(this: ServerResponse): void {
  connections.get(this.req.socket)?.finish(this)
}
