/**
 * The packets of an outside broker. What only MQTT 5 has is skipped and not checked: a message that ended the connection for
 * it would come again and again.
 */

import type { ProtocolVersion } from './connect-packet.ts'
import { PacketError } from './packet-error.ts'
import { FieldReader } from './packet-fields.ts'
import { packetTypes, type RawPacket } from './packet-reader.ts'
import { type Publish, readPublish } from './packets.ts'

export type BrokerPacket =
  | Publish
  /** `code`: 0 for success; of a SUBACK the granted QoS, from 0x80 on a refusal. */
  | { cmd: 'connack' | 'suback'; code: number }
  | { cmd: 'pubrel'; messageId: number }
  | { cmd: 'pingresp' | 'disconnect' }

/** Throws a `PacketError`. */
export function readBrokerPacket(raw: RawPacket, version: ProtocolVersion): BrokerPacket {
  const fields = new FieldReader(raw.bytes, raw.start)
  switch ((raw.bytes[0] ?? 0) >> 4) {
    case packetTypes.publish:
      return readMessage(raw, version)
    case packetTypes.pubrel:
      return { cmd: 'pubrel', messageId: fields.packetId() }
    case packetTypes.connack:
      fields.byte()
      return { cmd: 'connack', code: fields.byte() }
    case packetTypes.suback:
      fields.packetId()
      if (version === 5) skipProperties(fields)
      return { cmd: 'suback', code: fields.byte() }
    case packetTypes.pingresp:
      return { cmd: 'pingresp' }
    case packetTypes.disconnect:
      return { cmd: 'disconnect' }
    default:
      throw new PacketError('protocol_error', 'unexpected packet type')
  }
}

function readMessage(raw: RawPacket, version: ProtocolVersion): Publish {
  const publish = readPublish(raw, 4)
  if (version === 4 || publish.payload === 'too large') return publish
  const fields = new FieldReader(publish.payload, 0)
  skipProperties(fields)
  return { ...publish, payload: fields.rest() }
}

function skipProperties(fields: FieldReader): void {
  fields.part(fields.variable())
}
