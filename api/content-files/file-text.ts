/**
 * A file as the interface shows it, as compact JSON: texts that are stored or kept are put side by side, for nothing in
 * them has to be looked into.
 */

import type { Run } from './run-cache.ts'

/** Of one file: what it shares with no other, as it is stored. */
export interface FileRow {
  id: number
  runId: number
  setId: number
  /** JSON of `OwnFields`, in their order. */
  own: string
}

/** In the order of the interface; something else comes before the fields of `cutBefore`. */
export interface OwnFields {
  key: string
  uid: string | null
  title: string | null
  description: string | null
  require_summaries: boolean
  url: string | null
  content_type: string
  content_title: string | null
  content_author: string | null
  content_language: string | null
  checksum: string | null
  image_src: string | null
  file_type: string | null
  file_extension: string | null
  edx_module_id: string | null
  summary: string
  flashcards: readonly object[]
}

/**
 * No value before these is an object or a list, and within a text a quotation mark has a backslash before it: what is
 * found first is the field.
 */
const cutBefore = { types: ',"content_type":', resource: ',"file_type":', offering: ',"edx_module_id":' }

export function fileText({ id, own }: FileRow, run: Run, featureTypes: readonly string[]): string {
  const types = own.indexOf(cutBefore.types)
  const resource = own.indexOf(cutBefore.resource, types)
  const offering = own.indexOf(cutBefore.offering, resource)
  const first = `{"id":${id},${run.runText},${own.slice(1, types)},"content_feature_type":${JSON.stringify(featureTypes)}`
  const middle = `${own.slice(types, resource)},${run.resourceText}${own.slice(resource, offering)}`
  return `${first}${middle},${run.offeringText}${own.slice(offering)}`
}

export function moduleIdOf({ own }: FileRow): string | null {
  return (JSON.parse(own) as OwnFields).edx_module_id
}
