/** The fields of a device in forms and in lists as CSV. */

import type { BatteryType, DeviceSetting, Profile } from '../../../auth/devices/device.ts'
import { t, tc } from '../../words/words.ts'

const profileTexts = {
  none: tc('profile', 'None'),
  weather: t('Weather'),
  indoor: t('Indoor climate'),
  cold_chain: t('Cold chain'),
  pharmacy: t('Pharmacy refrigerator'),
  greenhouse: t('Greenhouse'),
} satisfies Record<Profile, string>

const batteryTexts = {
  alkaline: t('Alkaline'),
  'li-ion': 'Lithium-ion',
  lifepo4: t('Lithium iron phosphate'),
  'li-primary': t('Lithium thionyl chloride'),
  coin: t('Lithium coin cell'),
  nimh: t('Nickel-metal hydride'),
} satisfies Record<BatteryType, string>

/** An empty choice means unknown. */
const batteryChoices = [{ value: '', text: t('Unknown') }, ...choicesOf(batteryTexts)]

export interface DeviceField {
  name: Exclude<DeviceSetting, 'quality_limits' | 'metrics' | 'tags'>
  label: string
  kind?: 'number' | 'check' | 'choice'
  hint?: string
  isMore?: boolean
  choices?: { value: string; text: string }[]
}

export const deviceFields: readonly DeviceField[] = [
  { name: 'location_short', label: t('Place') },
  {
    name: 'expected_interval_seconds',
    label: t('Seconds between readings'),
    kind: 'number',
    hint: t('Estimated if empty'),
  },
  { name: 'battery', label: t('Sends battery voltage and charge'), kind: 'check' },
  { name: 'location_desc', label: t('Description'), isMore: true },
  { name: 'altitude_m', label: t('Altitude (m)'), kind: 'number', isMore: true },
  { name: 'latitude', label: t('Latitude (°)'), kind: 'number', hint: t('South is negative'), isMore: true },
  { name: 'longitude', label: t('Longitude (°)'), kind: 'number', hint: t('West is negative'), isMore: true },
  {
    name: 'profile',
    label: t('Profile'),
    kind: 'choice',
    choices: choicesOf(profileTexts),
    hint: t('Adds statistics'),
    isMore: true,
  },
  { name: 'battery_type', label: t('Battery type'), kind: 'choice', choices: batteryChoices, isMore: true },
  { name: 'battery_cells', label: t('Cells in series'), kind: 'number', hint: t('One if empty'), isMore: true },
]

function choicesOf(texts: Readonly<Record<string, string>>): { value: string; text: string }[] {
  return Object.entries(texts).map(([value, text]) => ({ value, text }))
}
