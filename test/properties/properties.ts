/** All properties, by subject. */

import { agreementProperties } from './agreement.ts'
import { autocorrelationProperties } from './autocorrelation.ts'
import { batteryProperties } from './battery.ts'
import { changeProperties } from './changes.ts'
import { correlationProperties } from './correlation.ts'
import { findingsProperties } from './findings.ts'
import { fleetGaugeProperties, fleetOutlierProperties } from './fleet-outliers.ts'
import { forecastProperties } from './forecast.ts'
import { labelProperties } from './label.ts'
import { lagProperties } from './lag.ts'
import { normalProperties } from './normal.ts'
import type { Property } from './property.ts'
import { qualityProperties } from './quality.ts'
import { reportingProperties } from './reporting.ts'
import { seasonalPeakProperties } from './seasonal-peaks.ts'
import { trendProperties } from './trend.ts'
import { unusualProperties } from './unusual.ts'

export const properties: readonly Property[] = [
  ...reportingProperties,
  ...correlationProperties,
  ...agreementProperties,
  ...lagProperties,
  ...autocorrelationProperties,
  ...labelProperties,
  ...seasonalPeakProperties,
  ...trendProperties,
  ...qualityProperties,
  ...changeProperties,
  ...normalProperties,
  ...forecastProperties,
  ...batteryProperties,
  ...findingsProperties,
  ...fleetOutlierProperties,
  ...fleetGaugeProperties,
  ...unusualProperties,
]
