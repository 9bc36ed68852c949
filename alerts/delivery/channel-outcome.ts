/** Results of operations on channels and deliveries. */

import type { AlertErrorCode } from '../core/outcome.ts'

type ChannelErrorCode =
  | Extract<
      AlertErrorCode,
      'CHANNEL_UNKNOWN' | 'DELIVERY_UNKNOWN' | 'NAME_TAKEN' | 'TARGET_REFUSED' | 'TOO_MANY_CHANNELS'
    >
  /** It gets nothing at present. */
  | 'CHANNEL_DISABLED'
  /** Its kind signs nothing. */
  | 'CHANNEL_WITHOUT_SECRET'
  | 'SETTINGS_INVALID'
  | 'TOO_MANY_REQUESTS'

export interface ChannelRefusal {
  ok: false
  code: ChannelErrorCode
  /** Why a target is refused, for a person. */
  detail?: string
  /** Fault of the settings. */
  issues?: readonly { path: readonly PropertyKey[]; message: string }[]
}

export type ChannelOutcome<Value = undefined> = { ok: true; value: Value } | ChannelRefusal
