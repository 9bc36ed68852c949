/** A file as the interface shows it, in compact JSON. Stored and cached texts are joined unparsed. */

import type { ContentFileLine } from './line.ts'
import type { Run } from './run-cache.ts'

/** The fields that a file shares with no other, as they are stored. */
export interface FileRow {
  id: number
  runId: number
  setId: number
  /** JSON of `OwnFields`, in their order. */
  own: string
}

/** In the order of the interface; shared fields come before the names in `cutBefore`. */
export const ownNames = [
  'key',
  'uid',
  'title',
  'description',
  'require_summaries',
  'url',
  'content_type',
  'content_title',
  'content_author',
  'content_language',
  'checksum',
  'image_src',
  'file_type',
  'file_extension',
  'edx_module_id',
  'summary',
  'flashcards',
] as const
export type OwnFields = Pick<ContentFileLine, (typeof ownNames)[number]>

/**
 * No value before these is an object or a list, and quotation marks within a text are escaped. So the first match is
 * the field.
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
