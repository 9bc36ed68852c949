/** A message to `readings/<device>` in the format of the logger API: the JSON of `PUT /api/log`. */

import { composed } from '../../store/plain-text.ts'
import { parseJson } from '../../store/strict-json.ts'
import { type Fields, roleOf } from '../field-names.ts'
import { timeIn } from '../reading.ts'
import type { RejectedSender, Rejection } from '../rejections/rejection.ts'
import { type MessageRefusal, refusals } from './message-refusal.ts'
import type { Publish } from './packets.ts'

export const topicPrefix = 'readings/'
export const payloadBytesMax = 64 * 1024

/** The device that a topic names. Undefined for another topic. */
export function deviceOfTopic(topic: string): string | undefined {
  return topic.startsWith(topicPrefix) && topic.length > topicPrefix.length
    ? topic.slice(topicPrefix.length)
    : undefined
}

/** For a message whose reading was rejected; `device` where its payload names it. */
export function rejectionOf(sender: RejectedSender, reason: string, topic: string, device?: string): Rejection {
  return { way: 'mqtt', sender, device: device ?? deviceOfTopic(topic), reason }
}

export type Body = { body: Fields } | { refusal: MessageRefusal }

/** True when a payload has the time of its reading. */
export function hasTime(body: Fields): boolean {
  for (const name in body) {
    if ((name === 'timestamp' || roleOf(name) === 'reading time') && timeIn(body[name]) !== undefined) return true
  }
  return false
}

/** The parsed payload. The topic's device applies where it names none. */
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
