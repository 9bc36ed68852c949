/** What differs between the versions of the protocol. A session asks here, and is the same for all of them. */

import type { Packet } from 'mqtt-packet'
import type { Acknowledgement } from './acknowledgements.ts'
import type { CloseReason } from './close-reasons.ts'
import type { Connect, ProtocolVersion } from './connect-packet.ts'
import type { MessageRefusal } from './message-refusal.ts'
import type { LimitOf } from './packet-reader.ts'
import type { Publish, PublishHead, Subscribe, Unsubscribe } from './packets.ts'
import type { ReasonCode } from './reason-codes.ts'

/** Of a client that asks for no keep-alive. */
export const keepAliveSecondsWithout = 2400

/** How messages are taken and answered. */
export interface DeliveryRules {
  /** Messages without an outcome, or behind one; beyond that nothing is read. */
  inFlightMax: number
  /** Messages of QoS 1 and QoS 2 that are not acknowledged; beyond that the connection ends. */
  receiveMaximum: number
  /** Without a refusal the reading is stored. */
  acknowledgement(publish: PublishHead, refusal: MessageRefusal | undefined): Acknowledgement | undefined
  /** Whether a message to a topic that is not the client's ends the connection. */
  closesOnTopic(publish: PublishHead): boolean
  /**
   * Whether RETAIN says nothing about when a message was published. Otherwise it marks a stored message that the broker
   * sends for the subscription: a reading only where it has a time of its own.
   */
  takesRetained: boolean
}

export interface Protocol extends DeliveryRules {
  version: ProtocolVersion
  /** Of a client that is let in. */
  limitOf: LimitOf
  /** Why a CONNECT is refused, whoever sends it. */
  refusalOf(connect: Connect): CloseReason | undefined
  /** Undefined for what the client cannot take. */
  encode(packet: Packet): Buffer | undefined
  connected(connect: Connect, clientId: string): Packet
  /** The last packet of a connection that we close; `isOpen`: behind a CONNACK that let the client in. */
  ending(code: ReasonCode, text: string | undefined, isOpen: boolean): Packet | undefined
  /** The message with its topic. Throws a `PacketError`. */
  resolve(publish: Publish): Publish
  /** The answer to PUBREL. */
  released(messageId: number, isKnown: boolean): Packet
  /** Nothing can be subscribed to. Throws a `PacketError`. */
  subscribed(packet: Subscribe): Packet
  unsubscribed(packet: Unsubscribe): Packet
  close(): void
}
