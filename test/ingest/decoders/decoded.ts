/** Made messages of a family, in the shape that its documentation shows, and their readings. */

import t from 'tap'
import { decoderOf } from '../../../ingest/decoders/decoders.ts'
import type { Message } from '../../../ingest/decoders/family.ts'

/** `of` is a topic, a query string such as `?device=porch`, or nothing. Several readings are a list. */
export type Example = readonly [name: string, body: unknown, reading: object | readonly object[] | string, of?: string]

/** Defaults for the examples of a family. */
interface Defaults {
  of?: string
  reading?: object
}

/** A text in place of readings is the reason why there are none. A field that is undefined in a reading is absent. */
export function decodes(family: string, defaults: Defaults, examples: readonly Example[]): void {
  t.test(family, async t => {
    for (const [name, body, expected, of = defaults.of ?? ''] of examples) {
      const decoded = decoderOf(family)?.(messageOf(body, of))
      const found = decoded?.kind === 'readings' ? decoded.readings : decoded?.reason
      const isWhole = typeof expected === 'string' || Array.isArray(expected)
      const wanted = isWhole ? expected : [present({ ...defaults.reading, ...(expected as object) })]
      t.strictSame(found, wanted, name)
    }
    t.ok(examples.length >= 10, 'there are ten examples at least')
  })
}

const present = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function messageOf(body: unknown, of: string): Message {
  return of.startsWith('?')
    ? { body, parameters: Object.fromEntries(new URLSearchParams(of)) }
    : { body, topic: of || undefined }
}

/** Fields of a form or a query string. */
export function form(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export const noon = '2026-01-01T12:00:00Z'
export const noonMs = Date.parse(noon)
