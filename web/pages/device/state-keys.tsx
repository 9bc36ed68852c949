/** Which colour stands for which state. */

import type { Quantity } from '../../text/quantities.ts'
import { isSwitch, stateColour, stateWord } from '../../text/state-words.ts'

export function StateKeys({ states, quantity }: { states: readonly number[]; quantity: Quantity }) {
  const ofSwitch = isSwitch(states, quantity)
  return (
    <span class="state-keys">
      {states.map(state => (
        <span key={state}>
          <span class="swatch" style={{ background: `var(${stateColour(state)})` }} />
          {stateWord(state, ofSwitch)}
        </span>
      ))}
    </span>
  )
}
