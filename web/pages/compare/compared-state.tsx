/** A state of two devices over the whole time: for how long each was in which, and for how long both were in the same. */

import { duration, percent } from '../../text/phrases.ts'
import type { Quantity } from '../../text/quantities.ts'
import { isSwitch, stateWord } from '../../text/state-words.ts'
import { stateSentences } from './agreement-sentences.ts'
import type { ComparedState as State } from './answers.ts'

export interface ComparedStateProps {
  readonly name: string
  readonly quantity: Quantity
  readonly metric: State
  readonly a: string
  readonly b: string
}

export function ComparedState({ name, quantity, metric, a, b }: ComparedStateProps) {
  const states = [...new Set([...metric.a.states, ...metric.b.states].map(({ state }) => state))].sort((x, y) => x - y)
  const ofSwitch = isSwitch(states, quantity)
  return (
    <section class="card" aria-labelledby={`compare-${name}`}>
      <h2 id={`compare-${name}`}>{quantity.name}</h2>
      <p class="summary-text">{stateSentences(metric.stats).join(' ')}</p>
      {states.length === 0 ? null : (
        <table class="states">
          <caption class="unseen">{quantity.name}: the time in each state</caption>
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">{a}</th>
              <th scope="col">{a === b ? `${b} again` : b}</th>
            </tr>
          </thead>
          <tbody>
            {states.map(state => (
              <tr key={state}>
                <th scope="row">{stateWord(state, ofSwitch)}</th>
                <Time state={state} of={metric.a} />
                <Time state={state} of={metric.b} />
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Time({ state, of }: { state: number; of: State['a'] }) {
  const { seconds = 0, share = 0 } = of.states.find(one => one.state === state) ?? {}
  return (
    <td>
      {percent(share)}
      <span class="time">{duration(seconds)}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width="100" height="6" />
        <rect class="part" width={100 * share} height="6" />
      </svg>
    </td>
  )
}
