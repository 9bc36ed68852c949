/** Declares the admin API's answers on dead letters: rows that QuestDB refused. */

import { z } from 'zod'

/** Each table has its own dead letters: an id belongs to one journal. */
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
      /** Series of the row: the device's symbol, or the station, its parameter and the unit. */
      symbol: z.string(),
      time: z.string(),
      values: z.record(z.string(), z.number().nullable()),
    }),
  ),
  /** Damaged files, and cut or undecodable rows of PostgreSQL. They can only be discarded. */
  damaged: z.array(
    z.object({
      table: letterTable,
      id: letterId,
      /** Name of the file in the journal's directory, or the topic and the id in PostgreSQL. */
      name: z.string(),
      reason: z.string(),
    }),
  ),
  /** Argument for `?after=`, or null on the last page. */
  next: letterId.nullable(),
})
export type DeadLetterPage = z.infer<typeof DeadLetterPage>
export type DeadLetter = DeadLetterPage['dead_letters'][number]
export type DamagedLetter = DeadLetterPage['damaged'][number]

export const Replayed = z.object({
  replayed: z.int(),
  /** Number of damaged dead letters, which are not replayed. */
  damaged: z.int(),
})
export type Replayed = z.infer<typeof Replayed>
export const Discarded = z.object({ discarded: z.int() })
