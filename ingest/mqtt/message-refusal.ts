/** Why the reading of a message is not stored, for the metrics, the client and the log. */

import { type WriteRefusal, type Writer, writeRefusalReason } from '../../auth/writers.ts'
import type { RejectionReason } from '../intake/reading-meter.ts'
import type { Refusal } from '../intake/refusal.ts'
import { refusalText } from '../intake/refusal.ts'
import type { ReasonCode } from './reason-codes.ts'

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

/** Why the device of a topic cannot receive a reading. The intake checks everything else. */
export function refusalOfDevice(
  device: ReturnType<Writer['find']>,
  deviceName: string,
  maker?: Pick<Writer, 'mayCreateDevices'>,
): MessageRefusal | undefined {
  if (typeof device !== 'string' || device === 'DEVICE_SUSPENDED' || device === 'LOGGING_DISABLED') return undefined
  if (device === 'DEVICE_UNKNOWN' && maker?.mayCreateDevices === true) return undefined
  return { ...ofDevice[device], text: writeRefusalReason(device, deviceName) }
}

/** For a reading that the intake refuses. */
export function refusalOfReading({ reason, code, members }: Refusal): MessageRefusal {
  return {
    reason,
    code: codes[reason] ?? 'unspecifiedError',
    text: refusalText({ code, members }).slice(0, textLengthMax),
  }
}
