/** An answer as JSON in bytes: what is stored or kept as text goes out as it is. */

import type { Links } from './paging.ts'

/** Of one UTF-16 unit. */
const utf8BytesMax = 3

export interface Answer {
  status: number
  /** Compact, as it goes out. */
  json: Buffer
}

export function answerOf(status: number, body: object): Answer {
  return { status, json: Buffer.from(JSON.stringify(body)) }
}

/**
 * A part of the list; the files are compact JSON. Each is encoded by itself: one text of all of them would be copied three
 * times, and with two bytes a character as soon as one character needs them (100 files: 1.2 ms instead of 0.35).
 */
export function listAnswer(count: number, { next, previous }: Links, files: readonly string[]): Answer {
  const head = `${JSON.stringify({ count, next, previous }).slice(0, -1)},"results":[`
  const characters = files.reduce((sum, file) => sum + 1 + file.length, head.length + 2)
  const buffer = Buffer.allocUnsafeSlow(characters * utf8BytesMax)
  let at = buffer.write(head)
  for (const [index, file] of files.entries()) at += buffer.write(index === 0 ? file : `,${file}`, at)
  at += buffer.write(']}', at)
  return { status: 200, json: buffer.subarray(0, at) }
}

/** The same JSON with line breaks. */
export function indented({ json }: Answer, spaces: number): string {
  return JSON.stringify(parsed(json), null, spaces)
}

export function parsed(json: Buffer): unknown {
  return JSON.parse(json.toString())
}
