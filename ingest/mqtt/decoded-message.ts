/** Messages by MQTT in formats of sensors: which decoder reads the payload of a topic. */

import { isUtf8 } from 'node:buffer'
import type { Writer } from '../../auth/writers.ts'
import { parseJson } from '../../store/strict-json.ts'
import type { Decoders, NamedDecoder } from '../decoders/own-decoders.ts'
import type { RecentMessages } from '../decoders/recent-messages.ts'
import type { Fields } from '../field-names.ts'
import { senderOf, withReading } from '../intake/rejection-source.ts'
import type { Rejection } from '../rejections/rejection.ts'
import type { Publish } from './packets.ts'
import { type MessageRefusal, payloadBytesMax, refusals, rejectionOf, topicPrefix } from './reading-message.ts'
import { matchesFilter } from './topics.ts'

/** A topic filter, and the family of the messages that come by it: `own` for decoders of people, which name their topics. */
export interface Subscription {
  readonly filter: string
  readonly family: string
}

/** Bodies of readings, none where the message has no reading. */
export type DecodedMessage = { bodies: readonly Fields[] } | { refusal: MessageRefusal }
/** Undefined for a topic without a decoder. */
export type DecodeMessage = (publish: Pick<Publish, 'topic' | 'payload'>) => DecodedMessage | undefined

/** The decoder of a topic and the name of its family. */
export type FindDecoder = (topic: string) => NamedDecoder | undefined

export const ownFamilies = 'own'

/** The first of overlapping filters decides. */
export function createFindDecoder(subscriptions: readonly Subscription[], decoders: Decoders): FindDecoder {
  return topic => {
    const family = subscriptions.find(({ filter }) => matchesFilter(filter, topic))?.family
    if (family === ownFamilies) return decoders.ofTopic(topic)
    const decode = family === undefined ? undefined : decoders.named(family)
    return family === undefined || decode === undefined ? undefined : { family, decode }
  }
}

/** The listener uses this: topics of own decoders need no filter there. */
export function createFindPublished(subscriptions: readonly Subscription[], decoders: Decoders): FindDecoder {
  const find = createFindDecoder(subscriptions, decoders)
  return topic => (isReadings(topic) ? undefined : (find(topic) ?? decoders.ofTopic(topic)))
}

/** These topics keep their own format. */
function isReadings(topic: string): boolean {
  return topic.startsWith(topicPrefix)
}

export function createDecodeMessage(find: FindDecoder, recent?: Pick<RecentMessages, 'add'>): DecodeMessage {
  return ({ topic, payload }) => {
    const decode = find(topic)?.decode
    if (decode === undefined) {
      // Authors of decoders start from these messages.
      if (!isReadings(topic) && payload !== 'too large' && payload.length <= payloadBytesMax) {
        recent?.add('mqtt', topic, { body: payloadValue(payload) }, payload.length)
      }
      return undefined
    }
    if (payload === 'too large' || payload.length > payloadBytesMax) return { refusal: refusals.tooLarge }
    // Senders clear a retained message with an empty payload.
    if (payload.length === 0) return { bodies: [] }
    const body = payloadValue(payload)
    recent?.add('mqtt', topic, { body }, payload.length)
    const decoded = decode({ topic, body })
    if (decoded.kind === 'rejected') return { refusal: { ...refusals.json, text: decoded.reason } }
    return { bodies: decoded.kind === 'readings' ? decoded.readings : [] }
  }
}

/** `fields` of a reading that the intake refuses. */
export function rejectionIn(
  find: FindDecoder,
  writer: Pick<Writer, 'id' | 'device' | 'owner'>,
  { reason, text }: MessageRefusal,
  topic: string,
  device?: string,
  fields?: Fields,
): Rejection {
  const rejection = rejectionOf(senderOf(writer), text, topic, device)
  const family = fields === undefined ? undefined : find(topic)?.family
  if (fields === undefined || family === undefined) return rejection
  return withReading(reason, rejection, { family, owner: writer.owner, fields })
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
