/** The last step of an erase in QuestDB. */

import type * as hourlyView from '../../../store/questdb/hourly-view.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof hourlyView = await import(realModule(import.meta.url))

export async function refreshHourlyView(...given: Parameters<typeof hourlyView.refreshHourlyView>): Promise<void> {
  await real.refreshHourlyView(...given)
  pass('erase-nulled')
}
