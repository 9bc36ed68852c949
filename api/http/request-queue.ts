/**
 * Queues pipelined requests (RFC 9112, 9.3.2). Node parses all requests of a read of 64 KiB, a thousand or more, and
 * would start all of them at once. The queue runs one request of a connection at a time:
 *
 * - pipelining clients delay others no longer than the same clients without pipelining: the next requests start in
 *   turns between the connections, a few in each turn of the event loop;
 * - requests after an answer that closes the connection are not processed (RFC 9112, 9.6).
 *
 * A connection with queued requests is not read, so they come from one read.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests started in one turn of the event loop, over all connections. */
const startsPerTurn = 16
/** Requests of all connections, some 3 KB each. Beyond it, the connection with most of them is closed. */
const waitingMax = 20_000
/** Unanswered requests of one connection that have let the next one start. */
const unansweredMax = 64

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

const connections = new WeakMap<Socket, Connection>()

export interface RequestQueueOptions {
  /** Starts a request from the queue. */
  start: RequestListener
  /** Called when the answer is sent before the body has ended. */
  onUnread: (request: IncomingMessage) => void
}

/** Listener for the `request` event of a server. */
export function queueRequests(options: RequestQueueOptions): RequestListener {
  const queue = new RequestQueue(options)
  return (request, response) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = new Connection(queue, socket)
      connections.set(socket, connection)
    }
    connection.take({ request, response })
  }
}

/** True if the connection is paused because of queued requests. */
export function isHeld(socket: Socket): boolean {
  return (connections.get(socket)?.waiting.length ?? 0) > 0
}

/**
 * Lets the next request of the connection start before this answer is sent, which will keep the connection open.
 * Readings use it, because many wait for one sync of the disk.
 */
export function allowNext(response: ServerResponse): void {
  connections.get(response.req.socket)?.allowNext(response)
}

/** Connections whose next request may start, in turns. */
class RequestQueue {
  readonly start: RequestListener
  readonly onUnread: (request: IncomingMessage) => void
  readonly #ready = new Set<Connection>()
  readonly #waiting = new Set<Connection>()
  #waitingCount = 0
  #isScheduled = false

  constructor({ start, onUnread }: RequestQueueOptions) {
    this.start = start
    this.onUnread = onUnread
  }

  noteWaiting(connection: Connection): void {
    this.#waiting.add(connection)
    this.#waitingCount++
    if (this.#waitingCount > waitingMax) this.#longest()?.abandon()
  }

  noteGone(connection: Connection, count: number): void {
    this.#waitingCount -= count
    if (connection.waiting.length > 0) return
    this.#waiting.delete(connection)
    this.#ready.delete(connection)
  }

  schedule(connection: Connection): void {
    this.#ready.add(connection)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    let started = 0
    for (const connection of this.#ready) {
      if (started === startsPerTurn) break
      started++
      this.#ready.delete(connection)
      connection.startNext()
    }
    const [next] = this.#ready
    if (next !== undefined) this.schedule(next)
  }

  #longest(): Connection | undefined {
    let longest: Connection | undefined
    for (const connection of this.#waiting) {
      if (longest === undefined || connection.waiting.length > longest.waiting.length) longest = connection
    }
    return longest
  }
}

class Connection {
  readonly socket: Socket
  waiting: Exchange[] = []
  readonly #queue: RequestQueue
  #unanswered = 0
  /** Answer that may still close the connection. */
  #undecided: ServerResponse | undefined
  #isWatched = false

  constructor(queue: RequestQueue, socket: Socket) {
    this.#queue = queue
    this.socket = socket
  }

  take(exchange: Exchange): void {
    // The connection is closing, or was closed for too many queued requests.
    if (!this.socket.writable) return
    if (this.waiting.length === 0 && this.#canStart()) this.#start(exchange)
    else this.#wait(exchange)
  }

  startNext(): void {
    const next = this.#canStart() ? this.waiting.shift() : undefined
    if (next === undefined) return
    this.#queue.noteGone(this, 1)
    if (this.waiting.length === 0) this.socket.resume()
    this.#start(next)
    this.#scheduleNext()
  }

  allowNext(response: ServerResponse): void {
    if (this.#undecided !== response || !response.shouldKeepAlive || response.hasHeader('connection')) return
    this.#undecided = undefined
    this.#scheduleNext()
  }

  #canStart(): boolean {
    return this.#undecided === undefined && this.#unanswered < unansweredMax
  }

  #start({ request, response }: Exchange): void {
    this.#unanswered++
    this.#undecided = response
    response.on('finish', noteFinish)
    this.#queue.start(request, response)
  }

  /** Called when the answer was sent. */
  finish(response: ServerResponse): void {
    this.#unanswered--
    if (this.#undecided === response) this.#undecided = undefined
    if (!this.socket.writable) this.#drop()
    else if (!response.req.complete) this.#queue.onUnread(response.req)
    else this.#scheduleNext()
  }

  #scheduleNext(): void {
    if (this.waiting.length > 0 && this.#canStart()) this.#queue.schedule(this)
  }

  #wait(exchange: Exchange): void {
    this.#watch()
    this.waiting.push(exchange)
    this.#queue.noteWaiting(this)
    this.socket.pause()
  }

  #watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    // Node resumes the connection after every parsed message.
    this.socket.on('resume', () => {
      if (this.waiting.length > 0) this.socket.pause()
    })
    this.socket.once('close', () => this.#drop())
  }

  abandon(): void {
    this.socket.destroy()
    this.#drop()
  }

  #drop(): void {
    const count = this.waiting.length
    this.waiting = []
    this.#queue.noteGone(this, count)
  }
}

/** One function for all answers, which is cheaper than a closure each. */
function noteFinish(this: ServerResponse): void {
  connections.get(this.req.socket)?.finish(this)
}
