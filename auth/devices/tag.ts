/** Tags: `key:value` on a device, as `site:berlin`, by which devices are found and selected. */

import { z } from 'zod'
import { composed, visibleTextFault } from '../../store/plain-text.ts'
import { tagPattern } from './name-pattern.ts'

/** Of a device. */
export const tagsMax = 16

const keyPattern = /^[a-z][a-z0-9_]{0,31}$/
const keyLengthMax = 32
const valueCharactersMax = 64
/** In place of a value, it stands for any: no tag has it as its own. */
const anyValue = '*'

/**
 * Why a composed text is no tag; undefined for one. All behind the first colon is the value. Lists of tags in a cell or a
 * field are separated by commas or semicolons. Two tags must not look the same, as names of devices.
 */
export function tagFault(tag: string): string | undefined {
  const fault = matchFault(tag)
  if (fault !== undefined) return fault
  return valueIn(tag) === anyValue ? 'must not have "*" as its value' : undefined
}

/** The same for what may also stand for all values of a key. */
function matchFault(tag: string): string | undefined {
  const key = keyIn(tag)
  if (key === undefined) return 'must be a key, a colon and a value'
  if (!keyPattern.test(key)) return 'must have a key of 1 to 32 of a-z, 0-9 and "_" that begins with a letter'
  const value = valueIn(tag)
  const fault = /[,;]/.test(value) ? 'must not contain a comma or a semicolon' : undefined
  const found = fault ?? visibleTextFault(value, valueCharactersMax)
  return found && `has a value that ${found}`
}

/** Undefined for what has no colon. */
function keyIn(tag: string): string | undefined {
  const colon = tag.indexOf(':')
  return colon === -1 ? undefined : tag.slice(0, colon)
}

function valueIn(tag: string): string {
  return tag.slice(tag.indexOf(':') + 1)
}

function tagText(faultOf: (tag: string) => string | undefined) {
  return z
    .string()
    .overwrite(composed)
    .superRefine((tag, context) => {
      const message = faultOf(tag)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
}

const published = {
  maxLength: keyLengthMax + 1 + valueCharactersMax,
  pattern: tagPattern,
  allOf: [{ pattern: `^[^:]*:.{1,${valueCharactersMax}}$` }],
}

export const Tag = tagText(tagFault).meta({ ...published, not: { pattern: '^[^:]*:\\*$' } })

/** At most one value for each key, as labels have in Prometheus; in the order of the keys, however they were sent. */
export const Tags = z
  .array(Tag)
  .max(tagsMax)
  .refine(tags => new Set(tags.map(keyIn)).size === tags.length, 'must have one value for each key')
  .overwrite(tags => tags.toSorted())

/** A tag, or `key:*` for any value of the key. */
export const TagMatch = tagText(matchFault).meta(published)

/** The same, with one sentence for all that is wrong. */
export function tagMatchOr(error: string) {
  return tagText(tag => matchFault(tag) && error).meta(published)
}

/** A key alone, with one sentence for all that is wrong. */
export function tagKeyOr(error: string) {
  return z.string(error).regex(keyPattern, error)
}

export const TagKey = tagKeyOr('must be 1 to 32 of a-z, 0-9 and "_" that begin with a letter')

/** Of a cell or a field that lists them. */
export function tagsIn(text: string): string[] {
  const tags = text.split(/[,;]/).map(tag => tag.trim())
  return tags.filter(tag => tag !== '')
}

export interface Tagged {
  readonly tags: readonly string[]
}

/** Whether a device has a tag for each of these: the tag itself, or with `key:*` any of the key. */
export function createTagMatcher(wanted: readonly string[]): (device: Tagged) => boolean {
  const exact = wanted.filter(tag => valueIn(tag) !== anyValue)
  const prefixes = wanted.filter(tag => valueIn(tag) === anyValue).map(tag => tag.slice(0, -anyValue.length))
  // A fleet of a hundred thousand devices is gone through by it.
  return ({ tags }) => {
    if (tags.length === 0) return wanted.length === 0
    for (const tag of exact) if (!tags.includes(tag)) return false
    for (const prefix of prefixes) if (!tags.some(tag => tag.startsWith(prefix))) return false
    return true
  }
}
