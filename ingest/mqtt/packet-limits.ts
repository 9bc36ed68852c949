/** The accepted types of packets, and their size limits. */

import { type LimitOf, type PacketLimit, packetTypes } from './packet-reader.ts'
import { payloadBytesMax } from './reading-message.ts'

/** The longest valid topic is shorter than the room above the payload. */
export const publishBytesMax = payloadBytesMax + 1024
const otherLimit: PacketLimit = { bytesMax: 8 * 1024, beyond: 'refuse' }

/** Packets of other types are not read at all. A larger message is truncated, so that it can be acknowledged. */
export function limitsOf(...names: (keyof typeof packetTypes)[]): LimitOf {
  const publishLimit: PacketLimit = { bytesMax: publishBytesMax, beyond: 'truncate' }
  return limitBy(names, name => (name === 'publish' ? publishLimit : otherLimit))
}

/** One limit for all types, as MQTT 5 announces it to its clients. */
export function limitsAlike(bytesMax: number, ...names: (keyof typeof packetTypes)[]): LimitOf {
  const limit: PacketLimit = { bytesMax, beyond: 'refuse' }
  return limitBy(names, () => limit)
}

function limitBy(
  names: readonly (keyof typeof packetTypes)[],
  limitOf: (name: keyof typeof packetTypes) => PacketLimit,
): LimitOf {
  const limits = new Map(names.map(name => [packetTypes[name] as number, limitOf(name)]))
  return type => limits.get(type)
}
