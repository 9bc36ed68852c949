/** The rows of `npm run faults:cluster`: one for each fault, and random mixes of them. */

import type { Harness, Run } from '../experiment.ts'
import type { MatrixRow } from '../matrix.ts'
import { devicesOf } from '../rows/erase.ts'
import { type ClusterBed, clusterExperiment } from './cluster-experiment.ts'
import { changeableDevice, type FaultName, faults, faultsOf, happen, happenAny, rest, untilHeld } from './faults.ts'

const faultsPerExperiment = 10

export function clusterMatrix(brokers: 1 | 3): MatrixRow[] {
  const single = faultsOf(brokers).map((what, index) => {
    const [, cycles, seconds] = faults[what]
    return { row: `c${index + 1}`, what, cycles, minutes: (cycles * seconds) / 60, run: runFault(what) }
  })
  return [
    ...single,
    { row: 'mix', what: 'random mixes', cycles: 60, minutes: 30, run: inExperiments(happenAny) },
    { row: 'erase', what: 'erased and revoked meanwhile', cycles: 6, minutes: 3, run: eraseMeanwhile },
  ]
}

export const runFault = (name: FaultName): Run<Harness> => inExperiments(bed => happen(bed, name))

/** One after the other, as they are listed. */
export const runInTurn = (names: readonly FaultName[]): Run<Harness> =>
  inExperiments((bed, index) => happen(bed, names[index] as FaultName))

/** While one is erased, and the password of another one is changed, something else happens. */
const eraseMeanwhile = inExperiments(async (bed, index) => {
  const names = ['holder killed', 'holder frozen', 'api killed', 'QuestDB killed', 'broker killed', 'PostgreSQL killed']
  const victims = devicesOf(bed)
  const name = victims.names.at(-2 - index) as string
  await victims.request(name)
  await bed.revoke(changeableDevice(bed))
  await happen(bed, names[index % names.length] as FaultName)
  await victims.untilErased(name)
})

function inExperiments(fault: (bed: ClusterBed, index: number) => Promise<void>): Run<Harness> {
  return async (harness, tally, seed, cycles) => {
    for (let done = 0; done < cycles; done += faultsPerExperiment) {
      await clusterExperiment(harness, { seed: seed + done, tally, importEveryMs: 2000 }, async bed => {
        for (let index = 0; index < Math.min(faultsPerExperiment, cycles - done); index++) {
          await rest(bed)
          await fault(bed, index)
          await untilHeld(bed)
        }
      })
    }
  }
}
