/** CONNECT of both versions (3.1). Invalid packets are refused before the credential is checked. */

import { FieldReader, PacketError } from './packet-fields.ts'
import { allow, noProperties, type Properties, readProperties } from './packet-properties.ts'
import { checkLength, type RawPacket } from './packet-reader.ts'
import { hasWildcard } from './topics.ts'

/** 4 is MQTT 3.1.1. */
export type ProtocolVersion = 4 | 5

export interface Connect {
  cmd: 'connect'
  version: ProtocolVersion
  clientId: string
  cleanStart: boolean
  /** 0 for none. */
  keepAliveSeconds: number
  /** The only relevant property of its will message. */
  hasRetainedWill: boolean
  username: string
  password: Buffer
  properties: Properties
}

const names = { current: 'MQTT', before311: 'MQIsdp' } as const
/** mosquitto sets this bit when it is a bridge. */
const bridgeBit = 0x80
const flagOf = { reserved: 0x01, clean: 0x02, will: 0x04, willRetain: 0x20, password: 0x40, username: 0x80 } as const

const connectProperties = allow(
  'sessionExpiryInterval',
  'receiveMaximum',
  'maximumPacketSize',
  'topicAliasMaximum',
  'requestResponseInformation',
  'requestProblemInformation',
  'authenticationMethod',
  'authenticationData',
)
const willProperties = allow(
  'willDelayInterval',
  'payloadFormatIndicator',
  'messageExpiryInterval',
  'contentType',
  'responseTopic',
  'correlationData',
)
const noPassword = Buffer.alloc(0)

/** Reads the first fields, which determine the format of the others. `old` and `new` are unsupported versions. */
export function readProtocolVersion({ bytes, start }: RawPacket): {
  version: ProtocolVersion | 'old' | 'new'
  isBridge: boolean
  rest: FieldReader
} {
  if (((bytes[0] ?? 0) & 0x0f) !== 0) throw new PacketError('malformed', 'invalid flags of the fixed header')
  const rest = new FieldReader(bytes, start)
  const name = rest.text()
  if (name === names.before311) return { version: 'old', isBridge: false, rest }
  if (name !== names.current) throw new PacketError('protocol_error', 'another protocol')
  const byte = rest.byte()
  const isBridge = (byte & bridgeBit) !== 0
  const level = byte & ~bridgeBit
  if (level === 4 || level === 5) return { version: level, isBridge, rest }
  return { version: level < 4 ? 'old' : 'new', isBridge, rest }
}

/** The fields after the version. */
export function readConnect(raw: RawPacket, fields: FieldReader, version: ProtocolVersion): Connect {
  if (version === 5) checkLength(raw)
  const flags = fields.byte()
  checkFlags(flags, version)
  const keepAliveSeconds = fields.uint16()
  const properties = version === 5 ? readProperties(fields, connectProperties) : noProperties
  if (properties.authenticationData !== undefined && properties.authenticationMethod === undefined) {
    throw new PacketError('protocol_error', 'authentication data without a method')
  }
  const clientId = fields.text()
  if (flags & flagOf.will) skipWill(fields, version)
  const username = flags & flagOf.username ? fields.text() : ''
  const password = flags & flagOf.password ? fields.binary() : noPassword
  fields.end()
  return {
    cmd: 'connect',
    version,
    clientId,
    cleanStart: (flags & flagOf.clean) !== 0,
    keepAliveSeconds,
    hasRetainedWill: (flags & flagOf.willRetain) !== 0,
    username,
    password,
    properties,
  }
}

function checkFlags(flags: number, version: ProtocolVersion): void {
  const willQos = (flags >> 3) & 3
  const hasWill = (flags & flagOf.will) !== 0
  const isMalformed =
    (flags & flagOf.reserved) !== 0 ||
    willQos === 3 ||
    (!hasWill && (willQos !== 0 || (flags & flagOf.willRetain) !== 0)) ||
    (version === 4 && (flags & flagOf.password) !== 0 && (flags & flagOf.username) === 0)
  if (isMalformed) throw new PacketError('malformed', 'invalid connect flags')
}

/** Clients cannot subscribe, so a will has no recipient. */
function skipWill(fields: FieldReader, version: ProtocolVersion): void {
  if (version === 5) readProperties(fields, willProperties)
  const topic = fields.text()
  if (topic === '' || hasWildcard(topic)) throw new PacketError('topic', 'the will topic is not a topic name')
  fields.binary()
}
