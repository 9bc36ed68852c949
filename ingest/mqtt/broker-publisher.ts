/**
 * Publishes at the outside broker, with a new connection each time. Messages acknowledged by the broker (QoS 1) are delivered.
 */

import { randomBytes } from 'node:crypto'
import { generate, type Packet } from 'mqtt-packet'
import { type BrokerAddress, connectPacket, openBrokerSocket } from './broker-socket.ts'
import { PacketError } from './packet-error.ts'
import { FieldReader } from './packet-fields.ts'
import { limitsOf } from './packet-limits.ts'
import { ByteAllowance, PacketReader, packetTypes, type RawPacket } from './packet-reader.ts'

interface PublishedMessage {
  topic: string
  payload: string
  retain: boolean
}

/** Rejects on an abort, or with an error that has a code. Some messages may then be delivered, and delivered again by a retry. */
export type PublishAtBroker = (messages: readonly PublishedMessage[], signal: AbortSignal) => Promise<void>

const keepAliveSeconds = 30
/** Limit of sent but unacknowledged messages. */
const inFlightMax = 50
/** Reason codes of MQTT 5 from here on are refusals. */
const refusedMin = 0x80
const limitOf = limitsOf('connack', 'puback', 'disconnect')
const bytesMax = 64 * 1024

export function createBrokerPublisher(address: BrokerAddress): PublishAtBroker {
  return (messages, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      // Several may publish at a time, beside the subscribing connection.
      const clientId = `${address.clientId}-${randomBytes(4).toString('hex')}`
      const send = (packet: Packet) => socket.write(generate(packet, { protocolVersion: address.protocolVersion }))
      const socket = openBrokerSocket(address.url, () =>
        send(connectPacket({ ...address, clientId }, { clean: true, keepAliveSeconds })),
      )
      const reader = new PacketReader(limitOf, new ByteAllowance(bytesMax))
      let sent = 0
      let acknowledged = 0

      function take(chunk: Buffer): void {
        reader.push(chunk)
        for (let raw = reader.next(); raw !== undefined; raw = reader.next()) {
          if (readAnswer(raw) === 'puback') acknowledged += 1
        }
        if (acknowledged < messages.length) sendMore()
        else finish()
      }

      function sendMore(): void {
        socket.cork()
        for (; sent < messages.length && sent - acknowledged < inFlightMax; sent++) {
          const message = messages[sent]
          // Unique among the messages in flight.
          const messageId = (sent % 0xffff) + 1
          if (message !== undefined) send({ cmd: 'publish', ...message, qos: 1, dup: false, messageId })
        }
        socket.uncork()
      }

      function finish(): void {
        send({ cmd: 'disconnect' })
        socket.end()
        end(undefined)
      }

      function end(error: unknown): void {
        signal.removeEventListener('abort', aborted)
        if (error === undefined) resolve()
        else reject(error)
        if (error !== undefined) socket.destroy()
      }

      const aborted = () => end(signal.reason)
      signal.addEventListener('abort', aborted, { once: true })
      socket.on('data', chunk => {
        try {
          take(chunk as Buffer)
        } catch (error) {
          end(error)
        }
      })
      socket.on('error', end)
      socket.once('close', () => end(refusal('the broker has closed the connection')))
    })
}

/** Throws for an unexpected packet, and for a refusal. */
function readAnswer({ bytes, start }: RawPacket): 'connack' | 'puback' {
  const fields = new FieldReader(bytes, start)
  switch ((bytes[0] ?? 0) >> 4) {
    case packetTypes.connack: {
      fields.byte()
      const code = fields.byte()
      if (code !== 0) throw refusal(`the connection is refused with code ${code}`)
      return 'connack'
    }
    case packetTypes.puback: {
      fields.packetId()
      // MQTT 5 adds a reason code unless it is success.
      const code = fields.hasMore ? fields.byte() : 0
      if (code >= refusedMin) throw refusal(`a message is refused with code ${code}`)
      return 'puback'
    }
    case packetTypes.disconnect:
      throw refusal('the broker has closed the connection')
    default:
      throw new PacketError('protocol_error', 'unexpected packet type')
  }
}

function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: 'MQTT_REFUSED' })
}
