/** Times of readings: calendars, zones, grids, hours and profiles of days. */

import './time/aggregates.ts'
import './time/calendar.ts'
import './time/day-slots.ts'
import './time/grid.ts'
import './time/iso-text.ts'
import './time/local-time.ts'
import './time/profiles.ts'
