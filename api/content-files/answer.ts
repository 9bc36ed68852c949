/** Writes an answer as JSON in bytes and passes stored texts on unchanged. */

import type { Links } from './paging.ts'

/** Bytes of one UTF-16 unit at most. */
const utf8BytesMax = 3

export interface Answer {
  status: number
  /** Compact, as it is sent. */
  json: Buffer
}

export function answerOf(status: number, body: object): Answer {
  return { status, json: Buffer.from(JSON.stringify(body)) }
}

/**
 * Writes a part of the list. The files are compact JSON. Each is encoded alone: one text of all would be copied three
 * times, with two bytes a character once one character needs them (100 files: 1.2 ms instead of 0.35).
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

export function indented({ json }: Answer, spaces: number): string {
  return JSON.stringify(parsed(json), null, spaces)
}

export function parsed(json: Buffer): unknown {
  return JSON.parse(json.toString())
}
