/** A message to `readings/<device>` in the format of the logger API: the JSON of `PUT /api/log`. */

import { type WriteRefusal, type Writer, writeRefusalReason } from '../../auth/writers.ts'
import { composed } from '../../store/plain-text.ts'
import { parseJson } from '../../store/strict-json.ts'
import { type Fields, roleOf } from '../field-names.ts'
import type { RejectionReason } from '../intake/reading-meter.ts'
import { type Refusal, refusalText } from '../intake/refusal.ts'
import { timeIn } from '../reading.ts'
import type { RejectedSender, Rejection } from '../rejections/rejection.ts'
import type { Publish } from './packets.ts'
import type { ReasonCode } from './reason-codes.ts'

/** Reason why the reading of a message is not stored, for the metrics, the client and the log. */
export interface MessageRefusal {
  reason: RejectionReason
  code: ReasonCode
  text: string
  /** The client may not publish to this topic. */
  isOfTopic?: boolean
}

const textLengthMax = 200

/** A retry of the message may succeed. */
const retryable: ReadonlySet<RejectionReason> = new Set(['suspended', 'full', 'closing', 'unknown', 'database_away'])

export function isRetryable({ reason }: MessageRefusal): boolean {
  return retryable.has(reason)
}

export const refusals = {
  topic: {
    reason: 'mismatch',
    code: 'topicNameInvalid',
    text: 'the topic must be readings/<device>',
    isOfTopic: true,
  },
  tooLarge: { reason: 'too_large', code: 'quotaExceeded', text: 'the payload is larger than 64 KiB' },
  json: { reason: 'invalid', code: 'payloadFormatInvalid', text: 'the payload is not a JSON object' },
  deviceField: { reason: 'invalid', code: 'payloadFormatInvalid', text: 'device: must be a string' },
  otherDevice: { reason: 'mismatch', code: 'payloadFormatInvalid', text: 'device: must be the device of the topic' },
  idInUse: {
    reason: 'invalid',
    code: 'packetIdentifierInUse',
    text: 'a message with this packet identifier is in flight',
  },
  tooManyInFlight: { reason: 'throttled', code: 'receiveMaximumExceeded', text: 'too many messages in flight' },
  revoked: { reason: 'unauthorized', code: 'notAuthorized', text: 'the credential was revoked' },
} as const satisfies Record<string, MessageRefusal>

/** These texts are shared by every way in. */
const ofDevice = {
  DEVICE_MISMATCH: { reason: 'mismatch', code: 'notAuthorized', isOfTopic: true },
  DEVICE_FORBIDDEN: { reason: 'mismatch', code: 'notAuthorized' },
  DEVICE_UNKNOWN: { reason: 'unknown_device', code: 'topicNameInvalid' },
  NAME_INVALID: { reason: 'invalid_name', code: 'topicNameInvalid' },
  TOO_MANY_DEVICES: { reason: 'too_many_devices', code: 'quotaExceeded' },
} as const satisfies Partial<Record<WriteRefusal, Omit<MessageRefusal, 'text'>>>

const codes: Partial<Record<RejectionReason, ReasonCode>> = {
  invalid: 'payloadFormatInvalid',
  unauthorized: 'notAuthorized',
  mismatch: 'notAuthorized',
  unknown_device: 'topicNameInvalid',
  invalid_name: 'topicNameInvalid',
  too_many_devices: 'quotaExceeded',
  disabled: 'notAuthorized',
  full: 'quotaExceeded',
  suspended: 'serverBusy',
  database_away: 'serverBusy',
  closing: 'serverShuttingDown',
}

/** Reason why the device of a topic cannot receive a reading. The intake checks everything else. */
export function refusalOfDevice(
  device: ReturnType<Writer['find']>,
  deviceName: string,
  maker?: Pick<Writer, 'mayCreateDevices'>,
): MessageRefusal | undefined {
  if (typeof device !== 'string' || device === 'DEVICE_SUSPENDED' || device === 'LOGGING_DISABLED') return undefined
  if (device === 'DEVICE_UNKNOWN' && maker?.mayCreateDevices === true) return undefined
  return { ...ofDevice[device], text: writeRefusalReason(device, deviceName) }
}

/** Converts a refusal of the intake to one of MQTT. */
export function refusalOfReading({ reason, code, members }: Refusal): MessageRefusal {
  return {
    reason,
    code: codes[reason] ?? 'unspecifiedError',
    text: refusalText({ code, members }).slice(0, textLengthMax),
  }
}

export const topicPrefix = 'readings/'
export const payloadBytesMax = 64 * 1024

/** The device that a topic names. Undefined for another topic. */
export function deviceOfTopic(topic: string): string | undefined {
  return topic.startsWith(topicPrefix) && topic.length > topicPrefix.length
    ? topic.slice(topicPrefix.length)
    : undefined
}

/** Describes a rejected reading. `device` is set where the payload names it. */
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
