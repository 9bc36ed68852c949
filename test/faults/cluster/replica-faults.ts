/** Faults of the replicas of QuestDB: a replica is deleted, rebuilt from the other one, or behind its forwarder. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { barograph } from '../../support/command-line.ts'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { settingsFor } from '../databases.ts'
import { frozenMs } from './broker-faults.ts'
import type { ClusterBed } from './cluster-experiment.ts'
import { holderOf, killUntilAgain, type ReplicaNumber, replicaNumbers, startAgain, type Victim } from './processes.ts'

const backlogMs = 4000
const latencyMs = 1500
/** This covers the wait for late requests after the cut, and some requests more. */
const slowMs = 10_000

/** The QuestDB of a replica. A supervisor restarts it after a kill. */
export interface ReplicaQuestdb extends Victim {
  root: string
}

export function questdbOf({ databases }: ClusterBed, replica: ReplicaNumber): ReplicaQuestdb {
  const { questdbRoot: root, second, pid, kill } = databases
  if (replica === 1) return { root, pid: () => pid('questdb'), kill: () => kill('questdb') }
  if (second === undefined) throw new Error('there is no second replica')
  return { root: second.root, pid: second.pid, kill: second.kill }
}

export const anyReplica = ({ random }: ClusterBed): ReplicaNumber => random.pick(replicaNumbers)
const otherThan = (replica: ReplicaNumber): ReplicaNumber => (replica === 1 ? 2 : 1)

/** The topics have all readings of a run, so the empty QuestDB is filled from there. */
export async function deleteDisk(bed: ClusterBed): Promise<void> {
  await loseDisk(questdbOf(bed, anyReplica(bed)))
}

async function loseDisk(questdb: ReplicaQuestdb): Promise<void> {
  // A running QuestDB would create files during the removal.
  freeze(questdb.pid())
  rmSync(join(questdb.root, 'db'), { recursive: true, force: true })
  await killUntilAgain([questdb])
}

/** The disk is lost. The operator copies the other replica while readings arrive. */
export async function rebuildReplica(bed: ClusterBed): Promise<void> {
  const replica = anyReplica(bed)
  const source = otherThan(replica)
  const { root, pid } = questdbOf(bed, replica)
  const sourceRoot = questdbOf(bed, source).root
  const { databases, folder, kafka, tally } = bed
  const environment = {
    ...settingsFor(databases, databases.questdb.http.port),
    ...kafka.settings.forward,
    DATA_DIR: join(folder, 'command'),
  }
  /** Retried, since another fault may be in progress. */
  async function run(words: () => string[]): Promise<void> {
    await until('a command of replicas succeeds', async () => {
      const { status, stderr } = await barograph(['replicas', ...words()], { environment })
      if (status !== 0) tally.notes.push(`replicas ${words()[0]} ended with ${status}: ${stderr.slice(-200)}`)
      return status === 0
    })
  }
  await run(() => ['remove', String(replica)])
  await loseDisk(questdbOf(bed, replica))
  const copy = () => {
    // Like rsync, the copy ignores vanished files: they belong to versions after the checkpoint.
    const files = `rm -rf db; cp -a ${sourceRoot}/db ${sourceRoot}/.checkpoint . 2>/dev/null; touch _restore`
    return `cd ${root} && kill -STOP ${pid()} && { ${files}; kill -9 ${pid()}; }`
  }
  await run(() => ['add', String(replica), '--from', String(source), '--copy', copy()])
}

/** The next forwarder has to resend the rows that the replica has not applied. */
export async function killBehindQuestdb(bed: ClusterBed): Promise<void> {
  const replica = anyReplica(bed)
  const thaw = freeze(questdbOf(bed, replica).pid())
  bed.hooks.teardown(thaw)
  await sleep(backlogMs)
  const holder = await holderOf(bed.forwarders, replica)
  await holder.end('SIGKILL')
  thaw()
  await startAgain(holder)
}

/**
 * On a slow link, rows queue behind the request in flight. Before the frozen forwarder resumes, another process sends these rows
 * and newer ones for the same times.
 */
export async function freezeWithBacklog(bed: ClusterBed): Promise<void> {
  const replica = anyReplica(bed)
  const holder = await holderOf(bed.forwarders, replica)
  const link = holder.links[replica]
  link.trouble.latencyMs = latencyMs
  link.cut()
  await sleep(slowMs)
  const thaw = freeze(holder.pid())
  bed.hooks.teardown(thaw)
  // New connections would otherwise be delayed, too.
  link.trouble.latencyMs = 0
  await holderOf(bed.forwarders, replica)
  await sleep(frozenMs)
  thaw()
}
