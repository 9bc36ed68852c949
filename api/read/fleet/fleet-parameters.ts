/** Declares the parameters of fleet requests. */

import { z } from 'zod'
import { tagKeyOr, tagMatchOr, tagsMax } from '../../../auth/devices/tag.ts'
import { published, wholeNumber } from '../../../query/analyses/parameters.ts'
import type { FleetPageRequest, FleetPlace } from '../../../query/live/fleet-page.ts'
import { MapBox } from '../../../query/live/fleet-shape.ts'
import { type LiveState, liveStates } from '../../../query/live/live-state.ts'

const devicesMax = 1000
const searchLengthMax = 128
const statesLengthMax = 100
/** A state, a colon and a name. */
const afterLengthMax = 300

const statesInvalid = `state must be one of ${liveStates.join(', ')}, or several with commas`
const orderInvalid = 'order must be state or name'
const searchInvalid = `q must be a text of 1 to ${searchLengthMax} characters`
const afterInvalid = 'after must be next of the previous answer'

const oneState = `(?:${liveStates.join('|')})`
const states = z
  .string(statesInvalid)
  .max(statesLengthMax, statesInvalid)
  .transform(text => text.split(','))
  .pipe(z.array(z.enum(liveStates, statesInvalid)))
  .default([...liveStates])
  .meta({
    ...published({ type: 'string', maxLength: statesLengthMax, pattern: `^${oneState}(?:,${oneState})*$` }),
    default: undefined,
    description: `Only these, with commas between them, of ${liveStates.join(', ')}`,
  })

/** Counts characters as the contract does. */
function text(error: string, lengthMax: number) {
  return z
    .string(error)
    .refine(value => value !== '' && value.length <= 2 * lengthMax && [...value].length <= lengthMax, error)
    .meta(published({ type: 'string', minLength: 1, maxLength: lengthMax }))
}

const tagInvalid = `tag must be a key, a colon and a value or "*", and be given at most ${tagsMax} times`

/** A single value arrives as a text. */
const tags = z
  .preprocess(
    given => (typeof given === 'string' ? [given] : given),
    z.array(tagMatchOr(tagInvalid)).max(tagsMax, tagInvalid),
  )
  .default([])
  .meta({
    default: undefined,
    description: 'Only devices with this tag; `key:*` stands for any value. Several tags must all match.',
  })

export const FleetQuery = z.object({
  state: states,
  order: z
    .enum(['state', 'name'], orderInvalid)
    .default('state')
    .meta({ description: 'Worst first, then by name; or by name' }),
  q: text(searchInvalid, searchLengthMax).optional().meta({ description: 'A part of the name or of the place' }),
  limit: wholeNumber('limit', 1, devicesMax).default(devicesMax).meta({ description: 'Devices in an answer' }),
  tag: tags,
  after: text(afterInvalid, afterLengthMax)
    .optional()
    .meta({ description: '`next` of the answer before, with the same order' }),
})

export const FleetParameters = FleetQuery.transform(({ state, order, q, tag, limit, after }, context) => {
  const place = after === undefined ? undefined : placeOf(after, order)
  if (after !== undefined && place === undefined) context.addIssue(afterInvalid)
  return { request: { states: state, order, after: place, limit } satisfies FleetPageRequest, search: q, tags: tag }
})

/** Writes a place as text for `after`. */
export function textOfPlace(
  { state, name }: { readonly state: LiveState; readonly name: string },
  order: string,
): string {
  return order === 'name' ? name : `${state}:${name}`
}

function placeOf(after: string, order: 'state' | 'name'): FleetPlace | undefined {
  if (order === 'name') return { state: undefined, name: after }
  const colon = after.indexOf(':')
  const state = liveStates.find(known => known === after.slice(0, colon))
  return state === undefined ? undefined : { state, name: after.slice(colon + 1) }
}

const keyInvalid = 'key must be the key of tags: 1 to 32 of a-z, 0-9 and "_" that begin with a letter'

const boxInvalid = 'box must be four numbers of degrees with commas between them: west, south, east and north'
const boxPattern = /^(?:-?\d{1,3}(?:\.\d{1,12})?,){3}-?\d{1,3}(?:\.\d{1,12})?$/
const boxLengthMax = 72

const box = z
  .string(boxInvalid)
  .max(boxLengthMax, boxInvalid)
  .regex(boxPattern, boxInvalid)
  .transform((text, context) => {
    const [west, south, east, north] = text.split(',').map(Number)
    const { data, success } = MapBox.safeParse({ west, south, east, north })
    if (success && data.west <= data.east && data.south <= data.north) return data
    context.addIssue(boxInvalid)
    return z.NEVER
  })
  .meta({
    ...published({ type: 'string', maxLength: boxLengthMax, pattern: boxPattern.source }),
    description: 'Marks are of devices in this box of degrees: west, south, east, north. By default of all',
  })

export const MapQuery = FleetQuery.pick({ state: true, q: true, tag: true }).extend({ box: box.optional() })

export const GroupsQuery = z.object({
  key: tagKeyOr(keyInvalid).meta({ description: 'Groups are by the tags of this key' }),
  tag: tags,
})
