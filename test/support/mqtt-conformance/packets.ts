/** What the rows about the statements of MQTT are written in: the packets of a version, and what comes back. */

import {
  type ConnectParts,
  connect,
  credential,
  kept,
  type Part,
  type PublishParts,
  packet,
  properties,
  publish,
  text,
  uint16,
} from '../mqtt-bytes.ts'

type Level = 4 | 5
type Packets = ReturnType<typeof packetsOf>

/** What is sent to both versions, and what each makes of it. */
export type SharedRow = [what: string, sent: (of: Packets) => Buffer[], of311: Expected, of5: Expected]
type Expected = [statements: string, answers: string[]]

/** What is sent to one of them. */
export type Row = [statements: string, what: string, sent: Buffer[], answers: string[]]

export const accepted = 'connack'
export const open = [accepted, kept]
export const stored = (id: number) => [accepted, `puback ${id}`, kept]
export const refused = (code: string) => [`connack 0x${code}`]
/** After the CONNACK; MQTT 5 tells why. */
export const closed = [accepted]
export const closedWith = (code: string) => [accepted, `disconnect 0x${code}`]
export const wrong = Buffer.from([0xc3, 0x28])
export const surrogate = Buffer.from([0xed, 0xa0, 0x80])
export const none = Buffer.from('a\0b')
export const clientId = text('id')
export const own = text('readings/porch')
export const user = (name: string | Buffer, value: string | Buffer) =>
  Buffer.concat([Buffer.from([0x26]), text(name), text(value)])

/** The packets of a version: most of MQTT 5 have properties. */
export function packetsOf(level: Level) {
  const section = level === 5 ? [properties()] : []
  const ofClient = (parts: ConnectParts, ...packets: Buffer[]) => [connect(level, parts), ...packets]
  return {
    section,
    ofClient,
    connected: (...packets: Buffer[]) => ofClient({}, ...packets),
    withWill: (flags: number, topic: string | Buffer, message: string, willSection = section) =>
      ofClient({
        flags: 0xc2 | flags,
        payload: [clientId, ...willSection, text(topic), text(message), ...credential],
      }),
    publish: (parts: PublishParts = {}) => publish(level, parts),
    subscribe: (...parts: Part[]) => packet(0x82, uint16(9), ...section, ...parts),
    unsubscribe: (...parts: Part[]) => packet(0xa2, uint16(9), ...section, ...parts),
    /** Good but for its first byte. */
    ofType(first: number): Buffer {
      const bodies: Record<number, Part[]> = {
        6: [uint16(1)],
        8: [uint16(1), ...section, text('a'), 0],
        10: [uint16(1), ...section, text('a')],
      }
      return packet(first, ...(bodies[first >> 4] ?? []))
    },
  }
}
