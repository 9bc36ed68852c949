/** Declares tags: `key:value` on a device, such as `site:berlin`, by which devices are found and selected. */

import { z } from 'zod'
import { composed, visibleTextFault } from '../../store/plain-text.ts'
import { tagPattern } from './name-pattern.ts'

/** Limit for a device. */
export const tagsMax = 16

const keyPattern = /^[a-z][a-z0-9_]{0,31}$/
const keyLengthMax = 32
const valueCharactersMax = 64
/** Stands for any value in a selector, so tags cannot have it. */
const anyValue = '*'

/**
 * Returns why a composed text is not a tag; undefined if it is. The value is the text behind the first colon. Commas
 * and semicolons separate tags in a cell or a field. Two tags must not look the same, like names of devices.
 */
export function tagFault(tag: string): string | undefined {
  const fault = matchFault(tag)
  if (fault !== undefined) return fault
  return valueIn(tag) === anyValue ? 'must not have "*" as its value' : undefined
}

/** Allows `*` as the value, too. */
function matchFault(tag: string): string | undefined {
  const key = keyIn(tag)
  if (key === undefined) return 'must be a key, a colon and a value'
  if (!keyPattern.test(key)) return 'must have a key of 1 to 32 of a-z, 0-9 and "_" that begins with a letter'
  const value = valueIn(tag)
  const fault = /[,;]/.test(value) ? 'must not contain a comma or a semicolon' : undefined
  const found = fault ?? visibleTextFault(value, valueCharactersMax)
  return found && `has a value that ${found}`
}

/** Undefined without a colon. */
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

/** Each key has at most one value, like labels in Prometheus. Sorted by key. */
export const Tags = z
  .array(Tag)
  .max(tagsMax)
  .refine(tags => new Set(tags.map(keyIn)).size === tags.length, 'must have one value for each key')
  .overwrite(tags => tags.toSorted())

/** A tag, or `key:*` for any value of the key. */
export const TagMatch = tagText(matchFault).meta(published)

/** Reports one error text for all faults. */
export function tagMatchOr(error: string) {
  return tagText(tag => matchFault(tag) && error).meta(published)
}

/** A key, with one error text for all faults. */
export function tagKeyOr(error: string) {
  return z.string(error).regex(keyPattern, error)
}

export const TagKey = tagKeyOr('must be 1 to 32 of a-z, 0-9 and "_" that begin with a letter')

/** Splits a cell or a field of tags. */
export function tagsIn(text: string): string[] {
  const tags = text.split(/[,;]/).map(tag => tag.trim())
  return tags.filter(tag => tag !== '')
}

export interface Tagged {
  readonly tags: readonly string[]
}

/** Tests for a tag of each entry: the tag itself, or with `key:*` any of the key. */
export function createTagMatcher(wanted: readonly string[]): (device: Tagged) => boolean {
  const exact = wanted.filter(tag => valueIn(tag) !== anyValue)
  const prefixes = wanted.filter(tag => valueIn(tag) === anyValue).map(tag => tag.slice(0, -anyValue.length))
  // It runs over fleets of a hundred thousand devices.
  return ({ tags }) => {
    if (tags.length === 0) return wanted.length === 0
    for (const tag of exact) if (!tags.includes(tag)) return false
    for (const prefix of prefixes) if (!tags.some(tag => tag.startsWith(prefix))) return false
    return true
  }
}
