/** Caller of an operation on alerts, and its outcome: a value, or the reason of a refusal. */

/** Administrators and the local token see all, others their own. `account` owns new objects (null: the service). */
export type Owner = { all: true; account: number | null } | { all: false; account: number }

/** The account that a query is limited to; null: all accounts. */
export function accountOf(who: Owner): number | null {
  return who.all ? null : who.account
}

export type AlertErrorCode =
  | 'ALERT_RESOLVED'
  | 'ALERT_UNKNOWN'
  | 'CHANNELS_UNKNOWN'
  | 'CHANNEL_UNKNOWN'
  | 'DELIVERY_UNKNOWN'
  | 'NAME_TAKEN'
  | 'RULE_INVALID'
  | 'RULE_UNKNOWN'
  | 'SILENCE_UNKNOWN'
  | 'TARGET_REFUSED'
  | 'TOO_MANY_CHANNELS'
  | 'TOO_MANY_PAIRS'
  | 'TOO_MANY_RULES'
  | 'TOO_MANY_SILENCES'

export type Outcome<Value = undefined> = { ok: true; value: Value } | { ok: false; code: AlertErrorCode }

export function accepted<Value>(value: Value): { ok: true; value: Value } {
  return { ok: true, value }
}

export function refused(code: AlertErrorCode): { ok: false; code: AlertErrorCode } {
  return { ok: false, code }
}

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
  /** Reason why a target is refused, as a sentence for users. */
  detail?: string
  /** Fault of the settings. */
  issues?: readonly { path: readonly PropertyKey[]; message: string }[]
}

export type ChannelOutcome<Value = undefined> = { ok: true; value: Value } | ChannelRefusal
