/** An experiment with a source whose notifications wait for seconds where they wait for minutes. */

import { join } from 'node:path'
import { type Change, copySource } from './copy-source.ts'
import { type ExperimentOptions, experiment, type Harness, type TestBed } from './experiment.ts'

const quickAlerts: Change[] = [
  { file: 'alerts/core/bounds.ts', from: 'groupWaitMs: 30_000', to: 'groupWaitMs: 300' },
  { file: 'alerts/core/bounds.ts', from: 'groupIntervalMs: 300_000', to: 'groupIntervalMs: 1_000' },
  // What a sender has died with is sent again then.
  { file: 'alerts/delivery/claim-rows.ts', from: 'export const claimMs = 60_000', to: 'export const claimMs = 4_000' },
]

const load = { devices: 5, perSecond: 20 }

export async function withQuickAlerts(
  harness: Harness,
  options: Pick<ExperimentOptions, 'seed' | 'tally'> & Partial<ExperimentOptions>,
  work: (bed: TestBed) => Promise<void>,
  changes: readonly Change[] = [],
): Promise<void> {
  const source = join(harness.folder, `quick-alerts-${options.tally.row}-${options.seed}`)
  copySource(harness.source, source, [...quickAlerts, ...changes])
  await experiment({ ...harness, source }, { ...load, ...options }, work)
}
