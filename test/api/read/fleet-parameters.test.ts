/** What the fleet may be asked, by whatever anybody sends. */

import fc from 'fast-check'
import t from 'tap'
import { FleetParameters, FleetQuery, textOfPlace } from '../../../api/read/fleet/fleet-parameters.ts'
import { liveStates } from '../../../live/live-state.ts'

t.test('whatever is asked, it is taken as it is meant or refused with a sentence', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('state', 'name', 'late', 'late,fresh', '0', '1', '1000', '1001', '1e3', 'late:Kitchen', ':', ''),
  )
  const value = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) })
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(FleetQuery.shape)), value), query => {
      const parsed = FleetParameters.safeParse(query)
      if (!parsed.success) return (parsed.error.issues[0]?.message.length ?? 0) > 10
      const { request, search } = parsed.data
      return request.limit >= 1 && request.limit <= 1000 && request.states.length > 0 && search !== ''
    }),
    { numRuns: 2000 },
  )
})

t.test('a place goes into the query string and comes back', async () => {
  const name = fc.string({ minLength: 1, maxLength: 64, unit: 'binary' })
  fc.assert(
    fc.property(fc.constantFrom(...liveStates), name, fc.constantFrom('state', 'name'), (state, name, order) => {
      const after = textOfPlace({ state, name }, order)
      const { request } = FleetParameters.parse({ after, order })
      return request.after?.name === name && request.after.state === (order === 'name' ? undefined : state)
    }),
  )
})
