/** The German words of the pages. The pages that the service renders have theirs in `german/service.ts`. */

import type { Catalogue } from '../../analytics/findings/words.ts'
import { admin } from './german/admin.ts'
import { alerts } from './german/alerts.ts'
import { common } from './german/common.ts'
import { dashboard } from './german/dashboard.ts'
import { device } from './german/device.ts'
import { fleet } from './german/fleet.ts'
import { metrics } from './german/metrics.ts'

export const german: Catalogue = { ...common, ...admin, ...alerts, ...dashboard, ...device, ...fleet, ...metrics }
