/** Packets of MQTT byte by byte, invalid ones included. Answers are parsed into words. */

import assert from 'node:assert/strict'
import { type Packet, parser } from 'mqtt-packet'
import { devicePassword, openRawMqtt, reading } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'

export type Part = number | Buffer

interface TestHooks {
  teardown(work: () => unknown): void
}

function bytes(parts: readonly Part[]): Buffer {
  return Buffer.concat(parts.map(part => (typeof part === 'number' ? Buffer.from([part]) : part)))
}

export function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}

export function uint32(value: number): Buffer {
  return Buffer.concat([uint16(value >>> 16), uint16(value & 0xffff)])
}

export function text(value: string | Buffer): Buffer {
  const encoded = Buffer.from(value)
  return Buffer.concat([uint16(encoded.length), encoded])
}

/** A variable byte integer in front of the bytes that it counts. */
function counted(content: Buffer): Buffer {
  const length: number[] = []
  for (let left = content.length; ; left >>= 7) {
    length.push(left > 0x7f ? (left & 0x7f) | 0x80 : left)
    if (left <= 0x7f) return Buffer.concat([Buffer.from(length), content])
  }
}

export function packet(first: number, ...parts: Part[]): Buffer {
  return Buffer.concat([Buffer.from([first]), counted(bytes(parts))])
}

export function properties(...parts: Part[]): Buffer {
  return counted(bytes(parts))
}

export interface ConnectParts {
  name?: string | Buffer
  flags?: number
  keepAlive?: number
  /** MQTT 5 only. */
  properties?: Buffer
  /** Client identifier, will, user name and password. */
  payload?: Buffer[]
}

export const credential = [text('porch'), text(devicePassword)]
const goodFlags = 0xc2

/** The defaults make a valid packet of the device `porch`. */
export function connect(level: number, parts: ConnectParts = {}): Buffer {
  const { name = 'MQTT', flags = goodFlags, keepAlive = 0, payload = [text('bytes'), ...credential] } = parts
  const section = level === 5 ? [parts.properties ?? properties()] : []
  return packet(0x10, text(name), level, flags, uint16(keepAlive), ...section, ...payload)
}

export interface PublishParts {
  topic?: string | Buffer
  qos?: 0 | 1 | 2 | 3
  dup?: boolean
  retain?: boolean
  /** Packet identifier, which QoS 0 does not have. */
  id?: number
  /** MQTT 5 only. */
  properties?: Buffer
  payload?: string | Buffer
}

/** The defaults make a valid reading of the device `porch` at QoS 1. */
export function publish(level: number, parts: PublishParts = {}): Buffer {
  const { topic = 'readings/porch', qos = 1, dup = false, retain = false, id = 1, payload = reading(1) } = parts
  const flags = (dup ? 8 : 0) | (qos << 1) | (retain ? 1 : 0)
  const identifier = qos > 0 ? [uint16(id)] : []
  const section = level === 5 ? [parts.properties ?? properties()] : []
  return packet(0x30 | flags, text(topic), ...identifier, ...section, Buffer.from(payload))
}

const pingreq = packet(0xc0)
const pingresp = 'd000'
/** The last answer on a connection that is not closed. */
export const kept = 'pingresp'

/** Sends the bytes and, after the expected answers, a PINGREQ. A connection that stays open has `pingresp` as its last answer. */
export async function exchange(
  t: TestHooks,
  url: string,
  level: number,
  { sent, answers }: { sent: Buffer[]; answers: string[] },
): Promise<string[]> {
  const { socket, received, closed } = await openRawMqtt(t, url, Buffer.concat(sent))
  let isClosed = false
  closed.then(() => {
    isClosed = true
  }, assert.fail)
  const expected = answers.filter(answer => answer !== kept).length
  await until('it is answered or closed', () => isClosed || inWords(received(), level).length >= expected)
  if (!isClosed) socket.write(pingreq)
  await until('the ping is answered, or it is closed', () => isClosed || received().endsWith(pingresp))
  socket.destroy()
  return inWords(received(), level)
}

export function packetsIn(received: string, level: number): Packet[] {
  const found: Packet[] = []
  const packets = parser({ protocolVersion: level })
  packets.on('packet', (packet: Packet) => void found.push(packet))
  packets.on('error', assert.fail)
  packets.parse(Buffer.from(received, 'hex'))
  return found
}

/** A line for each packet: its name, its identifier, and its codes but for success. */
export function inWords(received: string, level: number): string[] {
  return packetsIn(received, level).map(lineOf)
}

function lineOf(packet: Packet): string {
  const {
    cmd,
    messageId,
    returnCode,
    reasonCode,
    granted = [],
  } = packet as unknown as Partial<Record<string, unknown>> & { granted?: number[] }
  const codes = [returnCode, reasonCode, ...granted].filter(code => typeof code === 'number' && code > 0) as number[]
  return [cmd, messageId, ...codes.map(code => `0x${code.toString(16)}`)].filter(word => word !== undefined).join(' ')
}
