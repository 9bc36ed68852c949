/** Decodes single packets by mqtt-packet, with the checks that it leaves to its users. */

import { isUtf8 } from 'node:buffer'
import { parser as createParser, type Packet, type Parser } from 'mqtt-packet'
import { PacketError, packetTypes, type RawPacket } from './packet-reader.ts'

export type ProtocolVersion = 4 | 5

/** A message as it came; of one that is too large without its payload. */
export interface Publish {
  cmd: 'publish'
  topic: string
  payload: Buffer | 'too large'
  qos: 0 | 1 | 2
  /** Undefined at QoS 0. */
  messageId: number | undefined
}

export type Received = Publish | Exclude<Packet, { cmd: 'publish' }>

/** One parser decodes the packets of many connections, since it gets whole packets only. */
export class PacketDecoder {
  readonly #protocolVersion: ProtocolVersion
  #parser: Parser | undefined
  #packet: Packet | undefined
  #error: Error | undefined

  constructor(protocolVersion: ProtocolVersion) {
    this.#protocolVersion = protocolVersion
  }

  /** Throws a `PacketError` for what is not a valid packet. */
  decode(raw: RawPacket): Received {
    const type = (raw.bytes[0] ?? 0) >> 4
    if (type !== packetTypes.publish) return this.#parse(raw.bytes, type) as Received
    const { payloadStart, ...head } = readHead(raw)
    return { cmd: 'publish', ...head, payload: raw.isWhole ? this.#payloadOf(raw.bytes, payloadStart) : 'too large' }
  }

  /** Only in MQTT 5 there is something between the head and the payload. */
  #payloadOf(bytes: Buffer, payloadStart: number): Buffer {
    if (this.#protocolVersion === 4) return bytes.subarray(payloadStart)
    const packet = this.#parse(bytes, packetTypes.publish)
    if (packet.cmd !== 'publish' || !Buffer.isBuffer(packet.payload)) throw new PacketError('malformed packet')
    return packet.payload
  }

  #parse(bytes: Buffer, type: number): Packet {
    const parser = this.#parser ?? this.#create()
    this.#packet = undefined
    this.#error = undefined
    let left: number
    try {
      left = parser.parse(bytes)
    } catch (error) {
      this.#parser = undefined
      throw new PacketError('malformed packet', { cause: error })
    }
    const packet = this.#packet as Packet | undefined
    // It keeps the CONNECT with its password as its settings, and bytes of a broken packet.
    if (type === packetTypes.connect || this.#error !== undefined || left > 0) this.#parser = undefined
    if (packet === undefined || this.#error !== undefined || left > 0) throw new PacketError('malformed packet')
    return packet
  }

  #create(): Parser {
    const parser = createParser({ protocolVersion: this.#protocolVersion })
    parser.on('packet', (packet: Packet) => {
      this.#packet = packet
    })
    parser.on('error', (error: Error) => {
      this.#error = error
    })
    this.#parser = parser
    return parser
  }
}

/** Topic, QoS and id of a PUBLISH, also of a truncated one. They stand there in the same way in all versions. */
function readHead({ bytes, start }: RawPacket): Omit<Publish, 'cmd' | 'payload'> & { payloadStart: number } {
  const qos = ((bytes[0] ?? 0) >> 1) & 3
  if (qos === 3 || bytes.length < start + 2) throw new PacketError('malformed packet')
  const topicEnd = start + 2 + bytes.readUInt16BE(start)
  const topic = bytes.subarray(start + 2, topicEnd)
  const payloadStart = topicEnd + (qos > 0 ? 2 : 0)
  if (bytes.length < payloadStart || !isUtf8(topic)) throw new PacketError('malformed packet')
  const messageId = qos > 0 ? bytes.readUInt16BE(topicEnd) : undefined
  if (messageId === 0) throw new PacketError('malformed packet')
  return { topic: topic.toString(), qos: qos as Publish['qos'], messageId, payloadStart }
}
