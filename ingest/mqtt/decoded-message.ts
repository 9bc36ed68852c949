/** Messages of an outside broker in formats of sensors: which decoder reads the payload of a topic. */

import { isUtf8 } from 'node:buffer'
import { parseJson } from '../../store/strict-json.ts'
import { decoderOf } from '../decoders/decoders.ts'
import type { Fields } from '../field-names.ts'
import { type MessageRefusal, refusals } from './message-refusal.ts'
import type { Publish } from './packets.ts'
import { payloadBytesMax } from './reading-message.ts'
import { matchesFilter } from './topics.ts'

/** A topic filter, and the family of the messages that come by it. */
export interface Subscription {
  readonly filter: string
  readonly family: string
}

/** Bodies of readings, none where the message has no reading. */
type DecodedMessage = { bodies: readonly Fields[] } | { refusal: MessageRefusal }
export type DecodeMessage = (publish: Pick<Publish, 'topic' | 'payload'>) => DecodedMessage

/** The first of overlapping filters decides. */
export function familyOf(subscriptions: readonly Subscription[], topic: string): string {
  return subscriptions.find(({ filter }) => matchesFilter(filter, topic))?.family ?? ''
}

export function createDecodeMessage(subscriptions: readonly Subscription[]): DecodeMessage {
  return ({ topic, payload }) => {
    const decode = decoderOf(familyOf(subscriptions, topic))
    // A session that the broker keeps may still have filters of earlier settings.
    if (decode === undefined)
      return { refusal: { ...refusals.topic, text: 'the topic has no decoder in MQTT_BROKERS' } }
    if (payload === 'too large' || payload.length > payloadBytesMax) return { refusal: refusals.tooLarge }
    // So senders clear a retained message.
    if (payload.length === 0) return { bodies: [] }
    const decoded = decode({ topic, body: payloadValue(payload) })
    if (decoded.kind === 'rejected') return { refusal: { ...refusals.json, text: decoded.reason } }
    return { bodies: decoded.kind === 'readings' ? decoded.readings : [] }
  }
}

const textBytesMax = 256

/** A payload that is not JSON may be a value in words, such as `ON`. */
function payloadValue(payload: Buffer): unknown {
  try {
    return parseJson(payload)
  } catch {
    return payload.length <= textBytesMax && isUtf8(payload) ? payload.toString() : undefined
  }
}
