/** The packets of one connection: read as fast as they are dealt with, written as fast as the other side reads. */

import type { Socket } from 'node:net'
import { PacketError } from './packet-error.ts'
import { type ByteBudget, type LimitOf, PacketReader, type RawPacket } from './packet-reader.ts'

export interface ChannelOptions<Received> {
  socket: Socket
  /** Throws a `PacketError`. */
  decode: (raw: RawPacket) => Received
  limitOf: LimitOf
  budget: ByteBudget
  /** While false, nothing is read; call `resume` when it is true again. */
  canTake: () => boolean
  onPacket: (packet: Received) => void
  /** The bytes are no packets, or `onPacket` has thrown a `PacketError`. */
  onMalformed: (error: PacketError) => void
  /** They have thrown something else. */
  onFailed: (error: unknown) => void
}

/** One turn of the event loop works on no more of a connection, in packets and in bytes of them. */
const packetsPerTurn = 50
const bytesPerTurn = 64 * 1024
/** Beyond this, nothing is read from a client that does not read what it is sent. */
const writtenBytesMax = 16 * 1024
/** For the last packet to arrive. */
const endMsMax = 5000

export class PacketChannel<Received> {
  readonly #options: ChannelOptions<Received>
  readonly #reader: PacketReader
  #isWorking = false
  #next: NodeJS.Immediate | undefined
  #isCorked = false
  #isEnded = false
  /** Since when there is a part of a packet, by `performance.now()`; undefined when there is none. */
  partialSinceMs: number | undefined
  /** When the last packet came. */
  packetAtMs = performance.now()

  constructor(options: ChannelOptions<Received>) {
    this.#options = options
    this.#reader = new PacketReader(options.limitOf, options.budget)
    const { socket } = options
    socket.on('data', chunk => {
      if (this.#isEnded) return
      this.#reader.push(chunk as Buffer)
      this.resume()
    })
    socket.on('drain', () => this.resume())
    socket.once('close', () => this.#reader.close())
  }

  /** Goes on with what is there. */
  resume(): void {
    if (this.#isWorking || this.#isEnded) return
    this.#isWorking = true
    try {
      this.#work()
    } catch (error) {
      if (error instanceof PacketError) this.#options.onMalformed(error)
      else this.#options.onFailed(error)
    } finally {
      this.#isWorking = false
    }
  }

  #work(): void {
    const { socket, decode, canTake, onPacket } = this.#options
    for (let count = 0, bytes = 0; count < packetsPerTurn && bytes < bytesPerTurn; count++) {
      if (socket.destroyed || this.#isEnded) return
      if (!canTake() || socket.writableLength > writtenBytesMax) {
        socket.pause()
        return
      }
      const raw = this.#reader.next()
      if (raw === undefined) {
        if (this.#reader.hasPartial) this.partialSinceMs ??= performance.now()
        socket.resume()
        return
      }
      this.packetAtMs = performance.now()
      this.partialSinceMs = undefined
      bytes += raw.bytes.length
      onPacket(decode(raw))
    }
    if (this.#isEnded) return
    socket.pause()
    this.#next ??= setImmediate(() => {
      this.#next = undefined
      this.resume()
    })
  }

  send(packet: Buffer): void {
    const { socket } = this.#options
    if (socket.destroyed || socket.writableEnded) return
    // Acknowledgements of one sync leave together.
    if (!this.#isCorked) {
      this.#isCorked = true
      socket.cork()
      process.nextTick(() => {
        this.#isCorked = false
        socket.uncork()
      })
    }
    socket.write(packet)
  }

  /**
   * Closes the connection behind what was sent. What the other side still sends is discarded: unread, the kernel would
   * answer it with a reset, which may overtake the last packet.
   */
  end(): void {
    const { socket } = this.#options
    if (socket.destroyed) return
    this.#isEnded = true
    this.#reader.close()
    const cut = setTimeout(() => socket.destroy(), endMsMax)
    socket.once('close', () => clearTimeout(cut))
    socket.end()
    socket.resume()
  }
}
