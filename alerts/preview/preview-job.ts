/** Input and result of a preview: plain data that is posted to the thread and back. */

import type { AlertReadings } from '../../query/alerts/alert-queries.ts'
import type { RuleCore } from '../core/rule.ts'
import type { DeviceQuality } from '../core/suspect-share.ts'

export interface JobDevice {
  readonly number: number
  /** The device counts as silent after so long without a reading. */
  readonly afterMs: number
  /** Time between two readings. NaN for a device that is not regular. */
  readonly expectedMs: number
  /** Its last reading of all; NaN without one. */
  readonly lastMs: number
  /** Only rules on suspect readings have it. */
  readonly quality?: DeviceQuality | undefined
}

export interface PreviewJob {
  readonly rule: RuleCore
  readonly timeZone: string
  readonly fromMs: number
  readonly toMs: number
  /** Start of reading, at a full hour: earlier readings decide the state at the start of the range. */
  readonly readFromMs: number
  readonly devices: readonly JobDevice[]
}

export interface FiringCounts {
  readonly count: number
  readonly longestMs: number
  /** The end is NaN of one that goes on. */
  readonly intervals: readonly { readonly fromMs: number; readonly toMs: number }[]
}

export interface PreviewResult {
  /** `noDevice` for an alert of all devices. */
  readonly devices: readonly (FiringCounts & { readonly number: number })[]
  readonly weeks: readonly {
    readonly week: string
    readonly count: number
    readonly half: number
    readonly twice: number
  }[]
}

export type PreviewCommand = { readonly id: number } & (
  | { readonly kind: 'begin'; readonly job: PreviewJob }
  | { readonly kind: 'readings'; readonly readings: AlertReadings }
  | { readonly kind: 'end' }
  /** Its caller has left. */
  | { readonly kind: 'leave' }
)

/** Replies follow each command with readings, and the end. */
export type PreviewReply = { readonly id: number } & (
  | { readonly kind: 'taken' }
  | { readonly kind: 'done'; readonly result: PreviewResult }
)
