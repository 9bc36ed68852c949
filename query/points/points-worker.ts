/** A thread of the pool of points: it reads over its own connections and hands back the finished text. */

import { workerData } from 'piscina'
import { bug } from '../../store/limits/bug.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { createQuestdbExport } from '../questdb/questdb-export.ts'
import { runTask, type Task, type TaskResult, type WorkerSettings } from '../task.ts'
import type { PointsQueries, PointsResult } from './points-queries.ts'
import { createPointsSource, type PointsSource } from './points-source.ts'
import { pointsTasks } from './points-tasks.ts'

const settings: WorkerSettings = workerData
/** Opened when a task first reads the replica. */
const sources = new Map<number, PointsSource>()

export const hours = task('hours')
export const count = task('count')
export const page = task('page')
export const slice = task('slice')
export const range = task('range')
export const memory = task('memory')
export const place = task('place')
export const newest = task('newest')

function task<Name extends keyof PointsQueries>(name: Name) {
  return ({ control, replica, ...query }: Task<PointsQueries[Name]>): Promise<TaskResult<PointsResult>> => {
    const { rowsMax } = settings
    const source = sources.get(replica) ?? openSource(replica)
    sources.set(replica, source)
    return runTask({ control }, signal => {
      return pointsTasks[name](query as unknown as PointsQueries[Name], { source, rowsMax, signal })
    })
  }
}

function openSource(replica: number): PointsSource {
  const questdb = settings.replicas[replica - 1]
  if (questdb === undefined) throw bug(`unknown replica ${replica}`)
  return createPointsSource(createPgConnection(questdb.pg, settings), createQuestdbExport({ ...settings, questdb }))
}
