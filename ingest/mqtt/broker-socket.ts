/** The connection to an outside broker: the socket, and the packet that begins a session. */

import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { IConnectPacket } from 'mqtt-packet'
import type { ProtocolVersion } from './connect-packet.ts'

export interface BrokerAddress {
  /** `mqtt:` or `mqtts:`, with user name and password where the broker requires them. */
  url: string
  protocolVersion: ProtocolVersion
  /** Identifies the session. The broker closes one of two connections with the same name. */
  clientId: string
}

const defaultPorts = { 'mqtt:': 1883, 'mqtts:': 8883 } as const

export function openBrokerSocket(url: string, onConnect: () => void): Socket {
  const { protocol, hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isTls = protocol === 'mqtts:'
  const address = { host, port: port === '' ? defaultPorts[isTls ? 'mqtts:' : 'mqtt:'] : Number(port) }
  // RFC 6066 does not allow IP addresses there.
  const servername = isIP(host) === 0 ? host : ''
  const socket = isTls ? connectTls({ ...address, servername }, onConnect) : connect(address, onConnect)
  return socket.setNoDelay(true)
}

export interface SessionOptions {
  clean: boolean
  keepAliveSeconds: number
  /** MQTT 5 only. */
  properties?: NonNullable<IConnectPacket['properties']>
}

export function connectPacket(
  { url, protocolVersion, clientId }: BrokerAddress,
  { clean, keepAliveSeconds, properties }: SessionOptions,
) {
  const { username, password } = new URL(url)
  return {
    cmd: 'connect' as const,
    protocolVersion,
    clientId,
    clean,
    keepalive: keepAliveSeconds,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: Buffer.from(decodeURIComponent(password)) }),
    ...(protocolVersion === 5 && properties !== undefined && { properties }),
  }
}
