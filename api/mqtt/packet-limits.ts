/** Which types of packets are read, and how large they may be. */

import { type LimitOf, type PacketLimit, packetTypes } from './packet-reader.ts'
import { payloadBytesMax } from './reading-message.ts'

/** A topic that may be one is shorter than the room above the payload. */
export const publishLimit: PacketLimit = { bytesMax: payloadBytesMax + 1024, beyond: 'truncate' }
const otherLimit: PacketLimit = { bytesMax: 8 * 1024, beyond: 'refuse' }

/** Packets of other types are not read at all. */
export function limitsOf(...names: (keyof typeof packetTypes)[]): LimitOf {
  const limits = new Map<number, PacketLimit>()
  for (const name of names) limits.set(packetTypes[name], name === 'publish' ? publishLimit : otherLimit)
  return type => limits.get(type)
}
