/** Profiles of devices and types of their batteries, as a person reads them. */

import type { BatteryType, Profile } from '../../../auth/devices/device-profile.ts'

const profileTexts = {
  none: 'None',
  weather: 'Weather',
  indoor: 'Indoor climate',
  cold_chain: 'Cold chain',
  pharmacy: 'Pharmacy refrigerator',
  greenhouse: 'Greenhouse',
} satisfies Record<Profile, string>

const batteryTexts = {
  alkaline: 'Alkaline',
  'li-ion': 'Lithium-ion',
  lifepo4: 'Lithium iron phosphate',
  'li-primary': 'Lithium thionyl chloride',
  coin: 'Lithium coin cell',
  nimh: 'Nickel-metal hydride',
} satisfies Record<BatteryType, string>

export const profileChoices = choicesOf(profileTexts)
/** An empty choice means unknown. */
export const batteryChoices = [{ value: '', text: 'Unknown' }, ...choicesOf(batteryTexts)]

function choicesOf(texts: Readonly<Record<string, string>>): { value: string; text: string }[] {
  return Object.entries(texts).map(([value, text]) => ({ value, text }))
}
