/** What the admin API says of rows that QuestDB refused. */

import { z } from 'zod'

/** Each has letters of its own: an id is one of its journal. */
export const letterTables = ['readings', 'points'] as const
export type LetterTable = (typeof letterTables)[number]

export const letterTable = z.enum(letterTables)
export const letterId = z.int().nonnegative()

export const DeadLetterPage = z.object({
  dead_letters: z.array(
    z.object({
      table: letterTable,
      id: letterId,
      at: z.string(),
      reason: z.string(),
      /** Whose row it is: the symbol of the device, or the station, its parameter and the unit. */
      symbol: z.string(),
      time: z.string(),
      values: z.record(z.string(), z.number().nullable()),
    }),
  ),
  /** The page also has files and rows of PostgreSQL that are cut short or have bad bytes. They can only be discarded. */
  damaged: z.array(
    z.object({
      table: letterTable,
      id: letterId,
      /** The name of the file in the directory of the journal, or the topic and the id in PostgreSQL. */
      name: z.string(),
      reason: z.string(),
    }),
  ),
  /** For `?after=`, or null when there are no more. */
  next: letterId.nullable(),
})
export type DeadLetterPage = z.infer<typeof DeadLetterPage>
export type DeadLetter = DeadLetterPage['dead_letters'][number]
export type DamagedLetter = DeadLetterPage['damaged'][number]

export const Replayed = z.object({
  replayed: z.int(),
  /** How many were not, as they are damaged. */
  damaged: z.int(),
})
export type Replayed = z.infer<typeof Replayed>
export const Discarded = z.object({ discarded: z.int() })
