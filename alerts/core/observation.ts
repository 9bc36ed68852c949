/** Inputs of the evaluation of a rule, in the order in which they became known. */

/** Why an alert ends though it has not cleared. */
export type EndReason =
  | 'rule_removed'
  | 'rule_disabled'
  | 'rule_changed'
  | 'device_removed'
  | 'device_off'
  | 'not_selected'

export type Observation =
  /** The value is of the rule's metric; NaN: only that the device is alive. Time in epoch microseconds. */
  | {
      readonly kind: 'reading'
      readonly timeUs: number
      readonly receiptMs: number
      readonly value: number
    }
  /** A device whose last reading was at `lastMs` counts as silent from `dueMs` on. */
  | { readonly kind: 'tick'; readonly nowMs: number; readonly lastMs: number; readonly dueMs: number }
  /**
   * A full hour, effective at its end: the share of the expected readings, or of suspect ones (1 with a flat line), or
   * NaN if unknown.
   */
  | { readonly kind: 'hour'; readonly hourMs: number; readonly share: number }
  /** Until the battery is empty, at least; NaN: not known. */
  | { readonly kind: 'days'; readonly atMs: number; readonly days: number }
  /** The distance of a gauge from its usual value in a full hour. 0: not unusual. NaN: not known. */
  | { readonly kind: 'unusual'; readonly hourMs: number; readonly shift: number }
  /** How many devices of the selector are silent, of how many. */
  | { readonly kind: 'site'; readonly nowMs: number; readonly silent: number; readonly devices: number }
  /** A fact about the service itself. */
  | {
      readonly kind: 'fact'
      readonly nowMs: number
      readonly holds: boolean
      readonly value: number
      readonly text: string
    }
  | { readonly kind: 'end'; readonly nowMs: number; readonly reason: EndReason }
