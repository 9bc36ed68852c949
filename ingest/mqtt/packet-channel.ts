/** The packets of one connection: read as fast as they are processed, written as fast as the other side reads. */

import type { Socket } from 'node:net'
import { PacketError } from './packet-fields.ts'
import { type ByteAllowance, type LimitOf, PacketReader, type RawPacket } from './packet-reader.ts'

export interface ChannelOptions<Received> {
  socket: Socket
  /** Throws a `PacketError`. */
  decode: (raw: RawPacket) => Received
  limitOf: LimitOf
  budget: ByteAllowance
  /** Reading stops while it is false. Call `resume` when it is true again. */
  canTake: () => boolean
  onPacket: (packet: Received) => void
  /** The bytes are invalid, or `onPacket` has thrown a `PacketError`. */
  onMalformed: (error: PacketError) => void
  /** Another error was thrown. */
  onFailed: (error: unknown) => void
}

/** Limits of a connection's packets and bytes in one turn of the event loop. */
const packetsPerTurn = 50
const bytesPerTurn = 64 * 1024
/** Beyond this, a client that does not read its packets is not read either. */
const writtenBytesMax = 16 * 1024
/** Time for the last packet to arrive. */
const endMsMax = 5000

export class PacketChannel<Received> {
  readonly #options: ChannelOptions<Received>
  readonly #reader: PacketReader
  #isWorking = false
  #next: NodeJS.Immediate | undefined
  #isCorked = false
  #isEnded = false
  /** Start of an incomplete packet, by `performance.now()`. Undefined without one. */
  partialSinceMs: number | undefined
  /** Time of the last packet. */
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

  /** Continues with the buffered bytes. */
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
   * Closes the connection after all sent packets. Further input is discarded: the kernel would answer unread input with a reset,
   * which may overtake the last packet.
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
