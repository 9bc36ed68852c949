/** The metrics of a device as its answers describe them, and those that the page shows. The same while nothing changes. */

import { useMemo } from 'preact/hooks'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { chooseMetrics } from '../../text/chosen-metrics.ts'
import { type Descriptions, type Quantities, quantitiesOf, withNumbered } from '../../text/quantities.ts'
import type { Detail, Latest } from './answers.ts'
import type { Measured } from './measured.ts'
import { numberedStates } from './numbered-states.ts'
import { metricsOfDevice, metricsToRead, type ShownMetric } from './shown-metrics.ts'

interface Answers {
  readonly latest: Latest | undefined
  readonly detail: Detail | undefined
  readonly stats: Stats | undefined
  readonly past: PastDays | undefined
}

export interface DeviceMetrics {
  readonly quantities: Quantities
  /** All, in the order in which they are shown. */
  readonly names: readonly string[]
  readonly shown: readonly string[]
  readonly toRead: readonly ShownMetric[]
}

export function useDeviceMetrics(
  of: Measured,
  { latest, detail, stats, past }: Answers,
  chosen: string | null,
): DeviceMetrics {
  const described: Descriptions = { ...past?.metrics, ...stats?.metrics, ...latest?.metrics, ...detail?.metrics }
  const values = latest?.values ?? {}
  const names = metricsOfDevice(values, detail, described)
  const numbered = numberedStates({ values, detail, stats }, described)
  // Answers arrive each minute and mostly have the same metrics, so that the charts keep their objects.
  const same = JSON.stringify([described, names, numbered])
  return useMemo(() => {
    const quantities = withNumbered(quantitiesOf(described), numbered)
    const shown = chooseMetrics(names, chosen)
    return { quantities, names, shown, toRead: metricsToRead(of, names, shown, quantities) }
  }, [of, same, chosen])
}
