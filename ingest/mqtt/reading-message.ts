/** A message to `readings/<device>` as the logger API takes it: the JSON of `PUT /api/log`. */

import { composed } from '../../store/plain-text.ts'
import { parseJson } from '../../store/strict-json.ts'
import { type Fields, roleOf } from '../field-names.ts'
import { timeIn } from '../reading.ts'
import type { RejectedSender, Rejection } from '../rejections/rejection.ts'
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

export type Body = { body: Fields } | { refusal: MessageRefusal }

/** Whether a payload says when its reading was taken. */
export function hasTime(body: Fields): boolean {
  for (const name in body) {
    if ((name === 'timestamp' || roleOf(name) === 'reading time') && timeIn(body[name]) !== undefined) return true
  }
  return false
}

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
  const fields = body as Fields
  const { device = deviceName } = fields
  if (typeof device !== 'string') return { refusal: refusals.deviceField }
  fields['device'] = device
  return isSameName(device, deviceName) ? { body: fields } : { refusal: refusals.otherDevice }
}

function isSameName(one: string, other: string): boolean {
  return one === other || composed(one) === composed(other)
}
