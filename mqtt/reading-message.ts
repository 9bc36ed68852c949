/** A message to `readings/<device>` as the logger API takes it: the JSON of `PUT /api/log`. */

import { parseJson } from '../api/http/json-body.ts'
import { composed } from '../auth/plain-text.ts'
import type { RejectedSender, Rejection } from '../ingest/rejections/rejection.ts'
import { type MessageRefusal, refusals } from './message-refusal.ts'
import type { Publish } from './packets.ts'

export const topicPrefix = 'readings/'
export const payloadBytesMax = 64 * 1024

/** The device that a topic names; undefined for another topic. */
export function deviceOfTopic(topic: string): string | undefined {
  return topic.startsWith(topicPrefix) && topic.length > topicPrefix.length
    ? topic.slice(topicPrefix.length)
    : undefined
}

/** Of a message whose reading was not taken. */
export function rejectionOf(sender: RejectedSender, reason: string, topic: string): Rejection {
  return { way: 'mqtt', sender, device: deviceOfTopic(topic), reason }
}

export type Body = { body: unknown } | { refusal: MessageRefusal }

/** The parsed payload; one that does not name a device is of that of the topic. */
export function readBody(payload: Publish['payload'], deviceName: string): Body {
  if (payload === 'too large' || payload.length > payloadBytesMax) return { refusal: refusals.tooLarge }
  let body: unknown
  try {
    body = parseJson(payload)
  } catch {
    return { refusal: refusals.json }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { refusal: refusals.json }
  const fields: { device?: unknown } = body
  if (fields.device === undefined) fields.device = deviceName
  if (typeof fields.device !== 'string') return { refusal: refusals.deviceField }
  return isSameName(fields.device, deviceName) ? { body } : { refusal: refusals.otherDevice }
}

function isSameName(one: string, other: string): boolean {
  return one === other || composed(one) === composed(other)
}
