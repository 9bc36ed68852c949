/** Conclusions from readings: findings, excursions, batteries, forecasts, normal and unusual values. */

import './conclusions/battery-days.ts'
import './conclusions/battery-state.ts'
import './conclusions/excursions.ts'
import './conclusions/finding-text.ts'
import './conclusions/findings.ts'
import './conclusions/fleet-changes.ts'
import './conclusions/forecast.ts'
import './conclusions/normal.ts'
import './conclusions/unusual.ts'
