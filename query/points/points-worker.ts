/** A thread of the pool of points: it reads over its own connections and hands back the finished text. */

import { workerData } from 'piscina'
import { bug } from '../../limits/bug.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { createQuestdbExport } from '../questdb/questdb-export.ts'
import { runTask } from '../run-task.ts'
import type { Task, TaskResult, WorkerSettings } from '../task.ts'
import type { PointsQueries, PointsResult } from './points-queries.ts'
import { createPointsSource } from './points-source.ts'
import { pointsTasks } from './points-tasks.ts'

const settings: WorkerSettings = workerData
const [questdb] = settings.shards
if (questdb === undefined) throw bug('points are read of no QuestDB')
const connection = createPgConnection(questdb.pg, settings)
const source = createPointsSource(connection, createQuestdbExport({ ...settings, questdb }))

export const hours = task('hours')
export const count = task('count')
export const page = task('page')
export const slice = task('slice')
export const range = task('range')
export const memory = task('memory')
export const place = task('place')
export const newest = task('newest')

function task<Name extends keyof PointsQueries>(name: Name) {
  return ({ control, ...query }: Task<PointsQueries[Name]>): Promise<TaskResult<PointsResult>> => {
    const { rowsMax } = settings
    return runTask({ control }, signal => {
      return pointsTasks[name](query as unknown as PointsQueries[Name], { source, rowsMax, signal })
    })
  }
}
