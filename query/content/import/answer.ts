/** Limits of an import request, and the shape of its response. */

import { z } from 'zod'

/** The full text of a file is part of its line. */
export const lineBytesMax = 4 * 1024 * 1024
/** The limit is the number of listed rejects, so that even a request of faulty lines lists them all. */
export const linesMax = 2_000
/** The command line reads this much at a time. A longest line, cut off one byte behind its end, fits in. */
export const chunkBytes = 8 * 1024 * 1024

const rejectCodes = ['LINE_TOO_LONG', 'LINE_MALFORMED', 'FILE_INVALID'] as const

const Reject = z.object({
  /** Counted from 1 over all lines of the body, empty ones included. */
  line: z.int(),
  code: z.enum(rejectCodes),
  /** Names the field first: `title: must have at most 1024 characters`. */
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
  /** Files that did not exist before. */
  added: z.int(),
  /** Existing files with other content. */
  changed: z.int(),
  /** Unknown fields; only some of them if there are many. */
  ignored_fields: z.array(z.string()),
})
export type ImportedFiles = z.infer<typeof ImportedFiles>

export const ChangedFiles = z.object({
  ...lines,
  /** Files that were unpublished or removed. */
  changed: z.int(),
  /** Names without a file. */
  unknown: z.int(),
})
export type ChangedFiles = z.infer<typeof ChangedFiles>
