/** The fields of a device in forms and in lists as CSV. */

import type { BatteryType, DeviceSetting, Profile } from '../../../auth/devices/device.ts'

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

/** An empty choice means unknown. */
const batteryChoices = [{ value: '', text: 'Unknown' }, ...choicesOf(batteryTexts)]

export interface DeviceField {
  name: Exclude<DeviceSetting, 'quality_limits' | 'metrics' | 'tags'>
  label: string
  kind?: 'number' | 'check' | 'choice'
  hint?: string
  isMore?: boolean
  choices?: { value: string; text: string }[]
}

export const deviceFields: readonly DeviceField[] = [
  { name: 'location_short', label: 'Place' },
  { name: 'expected_interval_seconds', label: 'Seconds between readings', kind: 'number', hint: 'Estimated if empty' },
  { name: 'battery', label: 'Sends battery voltage and charge', kind: 'check' },
  { name: 'location_desc', label: 'Description', isMore: true },
  { name: 'altitude_m', label: 'Altitude (m)', kind: 'number', isMore: true },
  { name: 'latitude', label: 'Latitude (°)', kind: 'number', hint: 'South is negative', isMore: true },
  { name: 'longitude', label: 'Longitude (°)', kind: 'number', hint: 'West is negative', isMore: true },
  {
    name: 'profile',
    label: 'Profile',
    kind: 'choice',
    choices: choicesOf(profileTexts),
    hint: 'Adds statistics',
    isMore: true,
  },
  { name: 'battery_type', label: 'Battery type', kind: 'choice', choices: batteryChoices, isMore: true },
  { name: 'battery_cells', label: 'Cells in series', kind: 'number', hint: 'One if empty', isMore: true },
]

function choicesOf(texts: Readonly<Record<string, string>>): { value: string; text: string }[] {
  return Object.entries(texts).map(([value, text]) => ({ value, text }))
}
