/** A line of an import or an export: the object that the API shows, with fields that only the store has. */

import { z } from 'zod'

/** Some characters are two units long, so only a text with many units has to be counted. */
function isWithin(value: string, charactersMax: number): boolean {
  return value.length <= charactersMax || [...value].length <= charactersMax
}

/** The error of an existing value. A missing value has another one. */
function must(what: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : `must ${what}`) }
}

/** PostgreSQL rejects NUL, and a lone surrogate would come back as another character. */
function text(charactersMax = Number.POSITIVE_INFINITY) {
  return z
    .string(must('be a text'))
    .refine(value => value.isWellFormed() && !value.includes('\0'), 'must be Unicode without NUL')
    .refine(value => isWithin(value, charactersMax), `must have at most ${charactersMax} characters`)
}

function named(charactersMax: number) {
  return text(charactersMax).min(1, 'must not be empty')
}

/** Ids are numbers in JSON, so they stay within the integers that every JSON reader represents exactly. */
const id = z.int(must('be a whole number')).min(1, 'must be at least 1')
const url = text(4096)
const object = must('be an object')

/** A filter takes several codes with commas between them. */
const code = named(12).refine(value => !value.includes(','), 'must not contain a comma')
const Unit = z.object({ code, name: text(256), channel_url: url.nullable().default(null) }, object)
const Platform = z.object({ code, name: text(256) }, object)
const School = z.object({ id, name: text(256), url }, object)
const Department = z.object(
  {
    department_id: named(6),
    name: text(256),
    channel_url: url.nullable().default(null),
    school: School.nullable().default(null),
  },
  object,
)
const Topic = z.object(
  {
    id,
    name: text(128),
    icon: text(128).default(''),
    parent: id.nullable().default(null),
    channel_url: url.nullable().default(null),
  },
  object,
)

/** Limits the fields that a page of the listing shows; only the length of its line limits the full text. */
const proseMax = 32_768

function atMost<Item extends z.ZodType>(entriesMax: number, item: Item) {
  return z.array(item, must('be a list')).max(entriesMax, `must have at most ${entriesMax} entries`)
}

/** A list without duplicates. */
function distinct<Item extends z.ZodType>(item: Item, keyOf: (value: z.output<Item>) => unknown) {
  return atMost(100, item)
    .refine(items => new Set(items.map(keyOf)).size === items.length, 'must not name the same one twice')
    .default([])
}

/**
 * Filters drop white space at the ends, so a tag that has some could never be found. Sorted, so that the same tags are
 * one list.
 */
const Tags = atMost(100, text(128).trim().min(1, 'must not be empty'))
  .transform(tags => [...new Set(tags)].sort())
  .default([])

/** Converted to UTC and to the store's resolution of microseconds. */
const Time = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone' })
  .transform(value => {
    const [, seconds = '', digits = '', zone = ''] = /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(value) ?? []
    const utc = new Date(`${seconds}${zone}`).toISOString().slice(0, -'.000Z'.length)
    return `${utc}.${digits.slice(0, 6).padEnd(6, '0')}Z`
  })
  .refine(value => /^(?!0000)\d{4}-/.test(value), 'must be in the years 1 to 9999')

/** Identifies a file: a later import with the same identity changes it. */
const identity = { run_id: id, key: named(1024) }

export const ContentFileLine = z.object({
  id: id.optional(),
  ...identity,
  run_title: text(256),
  run_slug: text(1024).nullable().default(null),
  departments: distinct(Department, department => department.department_id),
  semester: text(20).nullable().default(null),
  year: z.int32(must('be a whole number')).nullable().default(null),
  topics: distinct(Topic, topic => topic.id),
  uid: text(36).nullable().default(null),
  title: text(1024).nullable().default(null),
  description: text(proseMax).nullable().default(null),
  require_summaries: z.boolean(must('be true or false')).default(false),
  url: url.nullable().default(null),
  content_feature_type: Tags,
  content_type: z.enum(['page', 'file', 'video', 'pdf'], 'must be page, file, video or pdf').default('file'),
  content_title: text(1024).nullable().default(''),
  content_author: text(1024).nullable().default(null),
  content_language: text(24).nullable().default(null),
  checksum: z
    .string(must('be a text'))
    .regex(/^[0-9a-fA-F]{32}$/, 'must have 32 hexadecimal digits')
    .nullable()
    .default(null),
  image_src: text(200).nullable().default(null),
  /** A text of digits, as it is shown. A number is accepted too. */
  resource_id: z
    .union(
      [
        id,
        z
          .string()
          .regex(/^[1-9]\d{0,15}$/)
          .transform(Number)
          .pipe(id),
      ],
      must('be a whole number'),
    )
    .transform(String),
  resource_readable_id: text(512).default(''),
  course_number: atMost(100, text(128)).default([]),
  file_type: text(128).nullable().default(null),
  file_extension: text(32).nullable().default(null),
  offered_by: Unit,
  platform: Platform,
  run_readable_id: text(128).default(''),
  edx_module_id: text(1024).nullable().default(null),
  summary: text(proseMax).default(''),
  flashcards: atMost(100, z.object({ question: text(4096), answer: text(4096) }, object)).default([]),
  /** The default is now, or an existing file's own time. */
  created_on: Time.optional(),
  published: z.boolean(must('be true or false')).default(true),
  content: text().nullable().default(null),
})
export type ContentFileLine = z.infer<typeof ContentFileLine>

/** A line that names a file to unpublish or to remove: by run and key as an export has them, or by id alone. */
export const ContentFileName = z.union([z.object(identity), z.object({ id })], 'must have run_id and key, or an id')
export type ContentFileName = z.infer<typeof ContentFileName>
