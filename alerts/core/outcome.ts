/** Caller of an operation on alerts, and its outcome: a value, or the reason of a refusal. */

/** Administrators and the local token see all; others see their own. `account` owns new objects (null: the service). */
export type Owner = { all: true; account: number | null } | { all: false; account: number }

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
