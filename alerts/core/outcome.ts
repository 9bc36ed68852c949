/** Who asks for something of alerts, and what came of it: its value, or why it was refused. */

/** Administrators and the local token see all, and `account` owns what they make (null: the service); others have what is theirs. */
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
