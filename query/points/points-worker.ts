/** A thread of the pool of points: it reads over its own connections and hands back the finished text. */

import { workerData } from 'piscina'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { createQuestdbExport } from '../questdb/questdb-export.ts'
import { runTask } from '../run-task.ts'
import type { Task, TaskResult, WorkerSettings } from '../task.ts'
import type { PointsQueries, PointsResult } from './points-queries.ts'
import { createPointsSource } from './points-source.ts'
import { buildFromMemory, buildNewest, buildPage, buildPoint, buildRange, type PointsContext } from './points-tasks.ts'

const settings: WorkerSettings = workerData
const connection = createPgConnection(settings.questdb.pg, settings)
const source = createPointsSource(connection, createQuestdbExport(settings))

export const hours = task<PointsQueries['hours']>(async (query, { signal }) => await source.hours(query, signal))
export const page = task(buildPage)
export const range = task(buildRange)
export const memory = task(buildFromMemory)
export const place = task(buildPoint)
export const newest = task(buildNewest)

function task<Query extends object>(build: (query: Query, context: PointsContext) => Promise<PointsResult>) {
  return ({ control, ...query }: Task<Query>): Promise<TaskResult<PointsResult>> => {
    const { rowsMax } = settings
    return runTask({ control }, signal => build(query as unknown as Query, { source, rowsMax, signal }))
  }
}
