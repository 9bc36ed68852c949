/** A rejected line of a bulk body: a code for programs and a reason for people. */

export const rejectCodes = [
  'LINE_TOO_LONG',
  'LINE_MALFORMED',
  'READING_INVALID',
  'DEVICE_UNKNOWN',
  'DEVICE_MISMATCH',
  'DEVICE_FORBIDDEN',
  'NAME_INVALID',
  'TOO_MANY_DEVICES',
  'DEVICE_SUSPENDED',
  'LOGGING_DISABLED',
  'POINT_INVALID',
  'STATION_UNKNOWN',
  'PARAMETER_UNKNOWN',
] as const
export type RejectCode = (typeof rejectCodes)[number]

/** Key of the name in a reject. */
export type Subject = 'device' | 'sn'

export interface Reject {
  /** Counted from 1, over all lines of the body, including the header and empty lines. */
  line: number
  /** The device that the line names, if the line could be read that far. */
  device?: string
  /** The station, of a point. */
  sn?: string
  code: RejectCode
  reason: string
}

/** Counts all rejects but lists them up to a limit, so that a body of only errors fits in memory. */
export class RejectList {
  readonly #subject: Subject
  readonly #max: number
  readonly listed: Reject[] = []
  count = 0

  constructor(subject: Subject, max: number) {
    this.#subject = subject
    this.#max = max
  }

  add(line: number, name: string | undefined, code: RejectCode, reason: string): void {
    this.count++
    if (this.listed.length >= this.#max) return
    this.listed.push(name === undefined ? { line, code, reason } : { line, [this.#subject]: name, code, reason })
  }
}

export interface Problem {
  code: RejectCode
  reason: string
}

/** The line is not line protocol. */
export function malformed(reason: string): Problem {
  return { code: 'LINE_MALFORMED', reason }
}

/** The line is not a reading. */
export function invalid(reason: string): Problem {
  return { code: 'READING_INVALID', reason }
}
