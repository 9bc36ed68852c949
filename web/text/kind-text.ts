/** A value as its kind is shown. */

import { directionText } from './compass.ts'
import { type Quantity, valueText } from './quantities.ts'
import { isSwitch, stateWord } from './state-words.ts'

/** `on` of a switch, `3` of another state, `NE 45°` of a direction, and everything else with its unit. */
export function kindText(value: number, quantity: Quantity): string {
  switch (quantity.kind) {
    case 'state':
      return stateWord(value, isSwitch([value], quantity))
    case 'direction':
      return directionText(value, quantity.decimals)
    default:
      return valueText(value, quantity)
  }
}
