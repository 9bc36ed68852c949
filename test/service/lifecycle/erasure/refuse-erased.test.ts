/** Refusals of a node that applies the feed. */

import t from 'tap'
import { type ApplyChange, noFeed } from '../../../../auth/nodes/change-feed.ts'
import { erasedCustom } from '../../../../ingest/journal/record.ts'
import { insertJob, insertMetricJob, insertStationJob } from '../../../../service/lifecycle/erasure/erase-records.ts'
import { refuseErased } from '../../../../service/lifecycle/erasure/erase-requests.ts'
import { nowhere, startDatabases } from '../../../support/databases.ts'

t.test(
  'refused: the series of each job, by the table of their journal, and the names of devices and stations',
  async t => {
    const { store } = await startDatabases(t, nowhere)
    const pool = store.postgres
    const device = await insertJob(pool, 'attic', [{ number: 7, symbol: 'attic-7' }], 'test')
    const metric = { device: { number: 8, name: 'roof' }, metric: 'co2', series: 5, by: 'test' }
    const values = await insertMetricJob(pool, metric)
    const station = await insertStationJob(pool, 'S-1', [3, 4])
    const refused: [string, number[]][] = []
    const path = (name: string) => ({
      refuseSeries: (numbers: readonly number[]) => void refused.push([name, [...numbers]]),
    })
    const forgotten: number[] = []
    const names: string[] = []
    let added = 0
    let apply: ApplyChange = () => undefined
    const onChange = (kind: string, given: ApplyChange) => {
      if (kind === 'erase') apply = given
    }
    refuseErased({
      feed: { ...noFeed, onChange },
      pool,
      ingest: { readings: path('readings'), points: path('points') },
      forgetSeries: async numbers => void forgotten.push(...numbers),
      forgetName: name => void names.push(name),
      added: () => added++,
    })
    for (const id of [device.id, values?.id ?? 0, station ?? 0]) await apply([id])
    t.strictSame(refused, [
      ['readings', [7]],
      ['readings', [erasedCustom(5)]],
      ['points', [3, 4]],
    ])
    t.strictSame(forgotten, [5])
    t.strictSame(names, ['attic', 'S-1'])
    t.equal(added, 3)
  },
)
