/** Which colour stands for which state. */

import { isSwitch, stateColour, stateWord } from '../../text/state-words.ts'

/** `states`: all of a metric. */
export function StateKeys({ states }: { states: readonly number[] }) {
  const ofSwitch = isSwitch(states)
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
