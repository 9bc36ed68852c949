/** The faults that a test wants, as environment variables of the service: `preload.ts` reads them there. */

import { z } from 'zod'

/**
 * The dangerous moments. `after-append` to `after-ack` are those of a group, `after-forward` is before QuestDB's 204 and
 * `after-taken` behind it; the others are those of the journal's files.
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
 * Those of an erase, which happen when it is asked for: before anything is noted, while its tombstone is written and put in
 * place, behind that, when the rows have gone from QuestDB's table, and when the report says that it is done.
 */
export const erasePoints = [
  'erase-begun',
  'tombstone-rename',
  'tombstone-sync',
  'erase-skipped',
  'erase-nulled',
  'erase-done',
] as const
/** Those of a reading with an idempotency key: behind its stamp, and behind its row. Others follow in its group. */
const keyPoints = ['stamp-reserved', 'key-claimed'] as const
/**
 * Those of an alert: what the engine has found is not stored yet, is written and not committed, is committed; a notification is
 * made and not committed, is committed, is claimed, was sent, and is noted as sent.
 */
export const alertPoints = [
  'alerts-found',
  'alerts-written',
  'alerts-applied',
  'group-told',
  'notifications-made',
  'notification-claimed',
  'notification-sent',
  'notification-noted',
] as const
export type AlertPoint = (typeof alertPoints)[number]
export const failPoints = [...journalPoints, ...keyPoints] as const
export type ErasePoint = (typeof erasePoints)[number]
export type FailPoint = (typeof failPoints)[number] | ErasePoint | AlertPoint

/** Each kind of rows has a journal and a forwarder of its own. */
export const faultRows = ['readings', 'points'] as const
export type FaultRows = (typeof faultRows)[number]

const points: ReadonlySet<string> = new Set([...failPoints, ...erasePoints, ...alertPoints])

const FaultSettings = z.object({
  /** `after-append:17` dies at the 17th pass. */
  FAIL_POINT: z
    .string()
    .refine(text => points.has(text.split(':')[0] ?? '') && /^[a-z-]+:[1-9]\d*$/.test(text))
    .transform(text => {
      const [name, pass] = text.split(':')
      return { name: name as FailPoint, pass: Number(pass) }
    })
    .optional(),
  /** Only passes of these rows count. */
  FAIL_ROWS: z.enum(faultRows).default('readings'),
  /** `200..5000`: each sync of the journal takes so many milliseconds longer, from one to the next another length. */
  FAULT_SYNC_MS: z
    .string()
    .regex(/^\d+\.\.\d+$/)
    .transform(text => {
      const [min = 0, max = 0] = text.split('..').map(Number)
      return { min, max }
    })
    .optional(),
  /** What was not synced is lost with the process, as in a power cut. */
  FAULT_LOSE_UNSYNCED: z.literal('1').optional(),
  /** `2:3600,4:-300`: two seconds after the start the clock is an hour ahead, after four five minutes behind. */
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
  /** For a test that sets the clock itself: a file with the seconds by which it is off, empty or missing for none. */
  FAULT_CLOCK_FILE: z.string().optional(),
})
export type FaultSettings = z.infer<typeof FaultSettings>

export function readFaultSettings(environment: Record<string, string | undefined>): FaultSettings {
  return FaultSettings.parse(environment)
}

/** The environment of a service in which these faults are injected. Every thread of it loads `preload.ts` first. */
export function injecting(settings: z.input<typeof FaultSettings>): Record<string, string> {
  FaultSettings.parse(settings)
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return { NODE_OPTIONS: `--import=${new URL('preload.ts', import.meta.url)}`, ...Object.fromEntries(given) }
}
