/** The packets of one connection: read as fast as they are dealt with, written as fast as the other side reads. */

import type { Socket } from 'node:net'
import { generate, type Packet } from 'mqtt-packet'
import { type ByteBudget, type LimitOf, PacketError, PacketReader } from './packet-reader.ts'
import type { PacketDecoder, ProtocolVersion, Received } from './packets.ts'

export interface ChannelOptions {
  socket: Socket
  protocolVersion: ProtocolVersion
  decoder: PacketDecoder
  limitOf: LimitOf
  budget: ByteBudget
  /** While false, nothing is read; call `resume` when it is true again. */
  canTake: () => boolean
  onPacket: (packet: Received) => void
  /** The bytes are no packets. */
  onMalformed: (error: PacketError) => void
}

/** One turn of the event loop works on no more packets of a connection. */
const packetsPerTurn = 50
/** Beyond this, nothing is read from a client that does not read what it is sent. */
const writtenBytesMax = 16 * 1024
/** For the last packet to leave. */
const endMsMax = 1000

export class PacketChannel {
  readonly #options: ChannelOptions
  readonly #reader: PacketReader
  #isWorking = false
  #next: NodeJS.Immediate | undefined
  #isCorked = false
  /** Since when there is a part of a packet, by `performance.now()`; undefined when there is none. */
  partialSinceMs: number | undefined
  /** When the last packet came. */
  packetAtMs = performance.now()

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#reader = new PacketReader(options.limitOf, options.budget)
    const { socket } = options
    socket.on('data', chunk => {
      this.#reader.push(chunk as Buffer)
      this.resume()
    })
    socket.on('drain', () => this.resume())
    socket.once('close', () => this.#reader.close())
  }

  /** Goes on with what is there. */
  resume(): void {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      this.#work()
    } catch (error) {
      if (!(error instanceof PacketError)) throw error
      this.#options.onMalformed(error)
    } finally {
      this.#isWorking = false
    }
  }

  #work(): void {
    const { socket, decoder, canTake, onPacket } = this.#options
    for (let count = 0; count < packetsPerTurn; count++) {
      if (socket.destroyed) return
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
      onPacket(decoder.decode(raw))
    }
    socket.pause()
    this.#next ??= setImmediate(() => {
      this.#next = undefined
      this.resume()
    })
  }

  send(packet: Packet): void {
    const { socket, protocolVersion } = this.#options
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
    socket.write(generate(packet, { protocolVersion }))
  }

  /** Closes the connection behind what was sent. */
  end(): void {
    const { socket } = this.#options
    socket.pause()
    setTimeout(() => socket.destroy(), endMsMax).unref()
    socket.destroySoon()
  }
}
