/** The differences between the protocol versions. A session uses this interface for all of them. */

import type { Packet } from 'mqtt-packet'
import type { Acknowledgement } from './acknowledgements.ts'
import type { CloseReason } from './close-reasons.ts'
import type { Connect, ProtocolVersion } from './connect-packet.ts'
import type { MessageRefusal } from './message-refusal.ts'
import type { LimitOf } from './packet-reader.ts'
import type { Publish, PublishHead, Subscribe, Unsubscribe } from './packets.ts'
import type { ReasonCode } from './reason-codes.ts'

/** Applies to a client without a keep-alive. */
export const keepAliveSecondsWithout = 2400

/** Rules for accepting and answering messages. */
export interface DeliveryRules {
  /** Limit of messages without an outcome, or behind one. Reading stops beyond it. */
  inFlightMax: number
  /** Limit of unacknowledged messages of QoS 1 and QoS 2. The connection ends beyond it. */
  receiveMaximum: number
  /** Without a refusal the reading is stored. */
  acknowledgement(publish: PublishHead, refusal: MessageRefusal | undefined): Acknowledgement | undefined
  /** True when a message to a topic outside the client's ends the connection. */
  closesOnTopic(publish: PublishHead): boolean
  /**
   * True when RETAIN is unrelated to the time of publication. Otherwise it marks a stored message that the broker sends for the
   * subscription: then only readings with a time are accepted.
   */
  takesRetained: boolean
}

export interface Protocol extends DeliveryRules {
  version: ProtocolVersion
  /** For an authenticated client. */
  limitOf: LimitOf
  /** Why a CONNECT is refused for any client. */
  refusalOf(connect: Connect): CloseReason | undefined
  /** Undefined for a packet that the client cannot accept. */
  encode(packet: Packet): Buffer | undefined
  connected(connect: Connect, clientId: string): Packet
  /** The last packet of a connection that we close; `isOpen`: after a successful CONNACK. */
  ending(code: ReasonCode, text: string | undefined, isOpen: boolean): Packet | undefined
  /** The message with its topic. Throws a `PacketError`. */
  resolve(publish: Publish): Publish
  /** The answer to PUBREL. */
  released(messageId: number, isKnown: boolean): Packet
  /** MQTT 5 always rejects subscriptions. Throws a `PacketError`. */
  subscribed(packet: Subscribe, isGranted: boolean): Packet
  unsubscribed(packet: Unsubscribe): Packet
  close(): void
}
