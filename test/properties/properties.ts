/** All properties, by subject. */

import type { Property } from './property.ts'
import { reportingProperties } from './reporting.ts'
import { seasonalPeakProperties } from './seasonal-peaks.ts'

export const properties: readonly Property[] = [...reportingProperties, ...seasonalPeakProperties]
