/** How much of a file of lines goes into one request, and what the answer to it tells. */

import { z } from 'zod'

/** The full text of a file is part of its line. */
export const lineBytesMax = 4 * 1024 * 1024
/** As many rejects as are listed, so a request of nothing but faults is told line by line. */
export const linesMax = 2_000
/** What the command line reads at a time; a longest line, cut off one byte behind its end, fits in. */
export const chunkBytes = 8 * 1024 * 1024

const rejectCodes = ['LINE_TOO_LONG', 'LINE_MALFORMED', 'FILE_INVALID'] as const

const Reject = z.object({
  /** Counted from 1 over all lines of the body, empty ones included. */
  line: z.int(),
  code: z.enum(rejectCodes),
  /** With the field ahead: `title: must have at most 1024 characters`. */
  reason: z.string(),
})
export type Reject = z.infer<typeof Reject>

/** Every line is accepted, rejected, or empty. */
const lines = {
  accepted: z.int(),
  rejected: z.int(),
  rejects: z.array(Reject),
  /** More lines were rejected than are listed. */
  rejects_truncated: z.boolean(),
}

export const ImportedFiles = z.object({
  ...lines,
  /** Files that were not there before. */
  added: z.int(),
  /** Files that were there and are different now. */
  changed: z.int(),
  /** Fields that are not ours, some of them if there are many. */
  ignored_fields: z.array(z.string()),
})
export type ImportedFiles = z.infer<typeof ImportedFiles>

export const ChangedFiles = z.object({
  ...lines,
  /** Files that were unpublished or removed. */
  changed: z.int(),
  /** Names of files that are not there. */
  unknown: z.int(),
})
export type ChangedFiles = z.infer<typeof ChangedFiles>
