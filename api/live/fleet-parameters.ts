/** What the fleet may be asked. */

import { z } from 'zod'
import type { FleetPageRequest, FleetPlace } from '../../query/live/fleet-page.ts'
import { type LiveState, liveStates } from '../../query/live/live-state.ts'

const devicesMax = 1000
const searchLengthMax = 128
/** A state, a colon and a name. */
const afterLengthMax = 300

const limitInvalid = `limit must be a whole number from 1 to ${devicesMax}`
const statesInvalid = `state must be one of ${liveStates.join(', ')}, or several with commas`
const orderInvalid = 'order must be state or name'
const searchInvalid = `q must be a text of 1 to ${searchLengthMax} characters`
const afterInvalid = 'after must be what next was in the answer before'

const states = z
  .string(statesInvalid)
  .max(100, statesInvalid)
  .transform(text => text.split(','))
  .pipe(z.array(z.enum(liveStates, statesInvalid)))

export const FleetParameters = z
  .object({
    state: states.default([...liveStates]),
    order: z.enum(['state', 'name'], orderInvalid).default('state'),
    q: z.string(searchInvalid).min(1, searchInvalid).max(searchLengthMax, searchInvalid).optional(),
    limit: z
      .string(limitInvalid)
      .regex(/^[1-9]\d{0,3}$/, limitInvalid)
      .transform(Number)
      .refine(value => value <= devicesMax, limitInvalid)
      .default(devicesMax),
    after: z.string(afterInvalid).min(1, afterInvalid).max(afterLengthMax, afterInvalid).optional(),
  })
  .transform(({ state, order, q, limit, after }, context) => {
    const place = after === undefined ? undefined : placeOf(after, order)
    if (after !== undefined && place === undefined) context.addIssue(afterInvalid)
    return { request: { states: state, order, after: place, limit } satisfies FleetPageRequest, search: q }
  })

export const fleetParameterNames = ['state', 'q', 'order', 'limit', 'after']

/** As a text for `after`. */
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
