/** Lists the domains of devices and the types of batteries. The statistics have the same lists. */

import { z } from 'zod'

export const Profile = z.enum(['none', 'weather', 'indoor', 'cold_chain', 'pharmacy', 'greenhouse'])
export type Profile = z.infer<typeof Profile>

export const BatteryType = z.enum(['alkaline', 'li-ion', 'lifepo4', 'li-primary', 'coin', 'nimh'])
export type BatteryType = z.infer<typeof BatteryType>

/** Cells in series. */
export const BatteryCells = z.int().min(1).max(24)
