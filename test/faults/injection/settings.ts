/** The faults of a test as environment variables of the service, parsed in `preload.ts`. */

import { z } from 'zod'

/**
 * The critical moments of the write path. `after-append` to `after-ack` concern a group. `after-forward` precedes QuestDB's 204
 * and `after-taken` follows it. The others concern the journal's files.
 */
export const journalPoints = [
  'after-append',
  'after-sync',
  'after-ack',
  'after-forward',
  'after-taken',
  'segment-roll',
  'segment-delete',
  'checkpoint-rename',
  'directory-sync',
] as const

/**
 * The critical moments of an erase: the request is not stored yet, its tombstone is renamed, synced and effective, QuestDB's rows
 * are removed, the erase is complete.
 */
export const erasePoints = [
  'erase-begun',
  'tombstone-rename',
  'tombstone-sync',
  'erase-skipped',
  'erase-nulled',
  'erase-done',
] as const
/** A reading with an idempotency key passes these points after its stamp and after its row. Others follow in its group. */
const keyPoints = ['stamp-reserved', 'key-claimed'] as const
/**
 * The critical moments of an alert. The engine's findings are not stored yet, written, or committed. A notification is created,
 * committed, claimed, sent, or recorded as sent.
 */
export const alertPoints = [
  'alerts-found',
  'alerts-written',
  'alerts-applied',
  'group-flushed',
  'notifications-made',
  'notification-claimed',
  'notification-sent',
  'notification-noted',
] as const
export type AlertPoint = (typeof alertPoints)[number]
export const failPoints = [...journalPoints, ...keyPoints] as const
export type ErasePoint = (typeof erasePoints)[number]
export type FailPoint = (typeof failPoints)[number] | ErasePoint | AlertPoint

/** Each kind of rows has a separate journal and forwarder. */
export const faultRows = ['readings', 'points'] as const
export type FaultRows = (typeof faultRows)[number]

const points: ReadonlySet<string> = new Set([...failPoints, ...erasePoints, ...alertPoints])

const FaultSettings = z.object({
  FAIL_POINT: z
    .string()
    .refine(text => points.has(text.split(':')[0] ?? '') && /^[a-z-]+:[1-9]\d*$/.test(text))
    .transform(text => {
      const [name, pass] = text.split(':')
      return { name: name as FailPoint, pass: Number(pass) }
    })
    .optional(),
  /** Passes of other rows are not counted. */
  FAIL_ROWS: z.enum(faultRows).default('readings'),
  FAULT_LOSE_UNSYNCED: z.literal('1').optional(),
  /** `2:3600,4:-300`: two seconds after the start the clock is an hour ahead, after four it is five minutes behind. */
  FAULT_CLOCK: z
    .string()
    .regex(/^\d+(\.\d+)?:-?\d+(,\d+(\.\d+)?:-?\d+)*$/)
    .transform(text =>
      text.split(',').map(jump => {
        const [after = 0, offset = 0] = jump.split(':').map(Number)
        return { afterMs: after * 1000, offsetMs: offset * 1000 }
      }),
    )
    .optional(),
  /** A file with the seconds by which the clock is ahead, for tests that set the clock. Empty or missing means zero. */
  FAULT_CLOCK_FILE: z.string().optional(),
})
export type FaultSettings = z.infer<typeof FaultSettings>

export function readFaultSettings(environment: Record<string, string | undefined>): FaultSettings {
  return FaultSettings.parse(environment)
}

/** The environment of a service with these faults. Each of its threads loads `preload.ts` first. */
export function injecting(settings: z.input<typeof FaultSettings>): Record<string, string> {
  FaultSettings.parse(settings)
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return { NODE_OPTIONS: `--import=${new URL('preload.ts', import.meta.url)}`, ...Object.fromEntries(given) }
}
