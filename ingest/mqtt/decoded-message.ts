/** Messages by MQTT in formats of sensors: which decoder reads the payload of a topic. */

import { isUtf8 } from 'node:buffer'
import type { Writer } from '../../auth/writers.ts'
import { parseJson } from '../../store/strict-json.ts'
import type { Decode } from '../decoders/decode.ts'
import { decoderOf } from '../decoders/decoders.ts'
import type { Fields } from '../field-names.ts'
import { senderOf, withReading } from '../intake/rejection-source.ts'
import type { Rejection } from '../rejections/rejection.ts'
import { type MessageRefusal, refusals } from './message-refusal.ts'
import type { Publish } from './packets.ts'
import { payloadBytesMax, rejectionOf, topicPrefix } from './reading-message.ts'
import { matchesFilter } from './topics.ts'

/** A topic filter, and the family of the messages that come by it. */
export interface Subscription {
  readonly filter: string
  readonly family: string
}

/** Bodies of readings, none where the message has no reading. */
export type DecodedMessage = { bodies: readonly Fields[] } | { refusal: MessageRefusal }
/** Undefined for a topic without a decoder. */
export type DecodeMessage = (publish: Pick<Publish, 'topic' | 'payload'>) => DecodedMessage | undefined

/** The decoder of a topic and the name of its family. */
export type FindDecoder = (topic: string) => { family: string; decode: Decode } | undefined

/** The first of overlapping filters decides. */
export function createFindDecoder(subscriptions: readonly Subscription[]): FindDecoder {
  return topic => {
    const family = subscriptions.find(({ filter }) => matchesFilter(filter, topic))?.family
    const decode = family === undefined ? undefined : decoderOf(family)
    return family === undefined || decode === undefined ? undefined : { family, decode }
  }
}

/** `readings/<device>` keeps its own format. */
export function exceptReadings(find: FindDecoder): FindDecoder {
  return topic => (topic.startsWith(topicPrefix) ? undefined : find(topic))
}

export function createDecodeMessage(find: FindDecoder): DecodeMessage {
  return ({ topic, payload }) => {
    const decode = find(topic)?.decode
    if (decode === undefined) return undefined
    if (payload === 'too large' || payload.length > payloadBytesMax) return { refusal: refusals.tooLarge }
    // So senders clear a retained message.
    if (payload.length === 0) return { bodies: [] }
    const decoded = decode({ topic, body: payloadValue(payload) })
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
