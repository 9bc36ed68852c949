/** The journal's disk with the faults. */

import type * as disk from '../../../ingest/journal/disk.ts'
import { withDiskFaults } from './disk-faults.ts'
import { realModule } from './replacements.ts'

const real: typeof disk = await import(realModule(import.meta.url))

export const openDisk: typeof disk.openDisk = directory => withDiskFaults(real.openDisk(directory))
