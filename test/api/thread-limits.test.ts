/** Worker threads: V8 gives a thread the requested young generation, and its modules come from the compile cache. */

import { once } from 'node:events'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { analysesGroup } from '../../api/read/analyses.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { threadEnvironment } from '../../store/thread-environment.ts'
import { openTestIngest } from '../ingest/open-ingest.ts'
import { makeDevice, queryAt } from '../query/query-at.ts'
import { testCacheDirectory } from '../support/cache-directory.ts'
import { nowhere } from '../support/databases.ts'
import { openReadsOf } from '../support/open-reads.ts'
import { waitFor } from '../support/wait-for.ts'
import { serveGroups } from './serve-groups.ts'

interface ThreadLimits {
  heapBytesMax: number
  limits: { maxOldGenerationSizeMb: number; maxYoungGenerationSizeMb: number }
}

t.test('every worker thread has the limits of its kind', async t => {
  const found: ThreadLimits[] = []
  const note = async (thread: Worker) => {
    const { heap_size_limit: heapBytesMax } = await thread.getHeapStatistics()
    found.push({ heapBytesMax, limits: thread.resourceLimits as ThreadLimits['limits'] })
  }
  const look = (thread: Worker) => thread.once('online', () => void note(thread))
  process.on('worker', look)
  t.teardown(() => process.off('worker', look))
  const { http, pg } = parseQuestdbAddress(nowhere.questdbHttp, nowhere.questdbPg)
  const ingest = openTestIngest(t)
  ingest.startForwarding(http, true)
  const metrics = { get: () => undefined, series: () => undefined, metricsOf: () => [] }
  const query = queryAt(t, pg, '2026-01-01T00:00:00Z', { http })
  const { app } = await serveGroups(t, analysesGroup(openReadsOf([makeDevice('porch')]), { query, metrics }))
  for (const name of ['detail_data', 'stats_data']) {
    t.equal((await app.inject(`/api/${name}/porch`)).statusCode, 503, name)
  }
  // These are the threads of the journal, the forwarder, light queries and analyses.
  await waitFor('four threads have started', () => found.length >= 4)
  for (const { heapBytesMax, limits } of found) {
    const young = heapBytesMax / 1024 ** 2 - limits.maxOldGenerationSizeMb
    // V8 rounds it to a power of two times three.
    t.ok(young < 2 * limits.maxYoungGenerationSizeMb, `${young} MiB of ${limits.maxYoungGenerationSizeMb}`)
  }
})

t.test('a thread that gets its settings as data uses the compile cache of the process', async t => {
  enableCompileCache(join(testCacheDirectory(), 'compiled'))
  const report = `require('node:worker_threads').parentPort.postMessage(require('node:module').getCompileCacheDir())`
  const thread = new Worker(report, { eval: true, env: threadEnvironment() })
  t.strictSame(await once(thread, 'message'), [getCompileCacheDir()])
  t.type(getCompileCacheDir(), 'string')
})
