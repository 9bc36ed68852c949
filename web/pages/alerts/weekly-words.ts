/** Weekly windows in words. */

import type { WeeklyWindow } from '../../../alerts/core/silence-window.ts'
import { listed } from '../../text/phrases.ts'

const dayNames = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays']

/** `Saturdays and Sundays 22:00–06:00` */
export function weeklyText(windows: readonly WeeklyWindow[]): string {
  return windows
    .map(({ days, from, until }) => {
      const names = days.length === 7 ? 'each day' : listed(days.map(day => dayNames[day - 1] ?? ''))
      return `${names} ${from}–${until}`
    })
    .join('; ')
}
