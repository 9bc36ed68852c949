/** The properties sent by clients of MQTT 5. Only numbers in use are kept. The rest is checked. */

import { type FieldReader, PacketError } from './packet-fields.ts'
import { hasWildcard } from './topics.ts'

/** Keys are names. Text and binary properties are 1. */
export type Properties = { readonly [Name in PropertyName]?: number }

interface Property {
  id: number
  /** Returns its value after checking all of it. */
  read: (fields: FieldReader) => number
}

const uint16 = (fields: FieldReader) => fields.uint16()
const uint32 = (fields: FieldReader) => fields.uint32()

const known = {
  payloadFormatIndicator: { id: 0x01, read: flag },
  messageExpiryInterval: { id: 0x02, read: uint32 },
  contentType: { id: 0x03, read: text },
  responseTopic: { id: 0x08, read: topic },
  correlationData: { id: 0x09, read: binary },
  subscriptionIdentifier: { id: 0x0b, read: fields => positive(fields.variable()) },
  sessionExpiryInterval: { id: 0x11, read: uint32 },
  authenticationMethod: { id: 0x15, read: text },
  authenticationData: { id: 0x16, read: binary },
  requestProblemInformation: { id: 0x17, read: flag },
  willDelayInterval: { id: 0x18, read: uint32 },
  requestResponseInformation: { id: 0x19, read: flag },
  reasonString: { id: 0x1f, read: text },
  receiveMaximum: { id: 0x21, read: fields => positive(fields.uint16()) },
  topicAliasMaximum: { id: 0x22, read: uint16 },
  topicAlias: { id: 0x23, read: uint16 },
  userProperty: { id: 0x26, read: pair },
  maximumPacketSize: { id: 0x27, read: fields => positive(fields.uint32()) },
} satisfies Record<string, Property>
type PropertyName = keyof typeof known

const byId = new Map(Object.entries(known).map(([name, { id, read }]) => [id, { name: name as PropertyName, read }]))

/** The service ignores them. This many take some tenth of a millisecond. */
const userPropertiesMax = 100

/** The allowed properties of a packet. */
export interface PropertyRules {
  names: ReadonlySet<PropertyName>
  userPropertiesMax: number
}

export function allow(...names: PropertyName[]): PropertyRules {
  return { names: new Set<PropertyName>([...names, 'userProperty']), userPropertiesMax }
}

export const noProperties: Properties = {}

/** Throws a `PacketError`. */
export function readProperties(fields: FieldReader, { names, userPropertiesMax }: PropertyRules): Properties {
  const length = fields.variable()
  if (length === 0) return noProperties
  const part = fields.part(length)
  const found: { [Name in PropertyName]?: number } = {}
  let userProperties = 0
  while (part.hasMore) {
    const property = byId.get(part.variable())
    if (property === undefined || !names.has(property.name)) {
      throw new PacketError('malformed', 'a property that this packet must not have')
    }
    const { name, read } = property
    if (name === 'userProperty') userProperties++
    else if (found[name] !== undefined) throw new PacketError('protocol_error', 'a property is given twice')
    if (userProperties > userPropertiesMax) throw new PacketError('quota', 'too many user properties')
    found[name] = read(part)
  }
  return found
}

function flag(fields: FieldReader): number {
  const value = fields.byte()
  if (value > 1) throw new PacketError('protocol_error', 'a property is neither 0 nor 1')
  return value
}

function positive(value: number): number {
  if (value === 0) throw new PacketError('protocol_error', 'a property is 0')
  return value
}

function text(fields: FieldReader): number {
  fields.skipText()
  return 1
}

function topic(fields: FieldReader): number {
  if (hasWildcard(fields.text())) throw new PacketError('protocol_error', 'the response topic has a wildcard')
  return 1
}

function binary(fields: FieldReader): number {
  fields.binary()
  return 1
}

function pair(fields: FieldReader): number {
  fields.skipText()
  fields.skipText()
  return 1
}
