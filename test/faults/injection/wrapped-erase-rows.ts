/** The moment when the erased rows have gone from the table of QuestDB. */

import type * as eraseRowsModule from '../../../lifecycle/erasure/erase-rows.ts'
import { pointsTable } from '../../../store/tables.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof eraseRowsModule = await import(realModule(import.meta.url))

export const { countRows, erasedTables, keysPresent } = real

export async function eraseRows(...given: Parameters<typeof eraseRowsModule.eraseRows>): Promise<number> {
  const txn = await real.eraseRows(...given)
  const [, table] = given
  pass('erase-nulled', table.name === pointsTable ? 'points' : 'readings')
  return txn
}
