import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import { setThreadFlags } from '../../api/node-flags.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

interface Told {
  heapBytesMax: number
  limits: { maxOldGenerationSizeMb: number; maxYoungGenerationSizeMb: number }
}

const preload = import.meta.resolve('../support/tell-thread-limits.ts')

test('the limit of the main thread for short-lived values does not replace those of the other threads', async t => {
  const { addDevice, output, put, url } = await startService(t, {
    environment: { NODE_OPTIONS: `--import=${preload}` },
  })
  const password = await addDevice('Porch')
  const reading = { device: 'Porch', temperature: 20, humidity: 50, pressure: 1000 }
  t.equal((await put('Porch', password, reading)).status, 200)
  // Journal and forwarder are there from the start; the analysis thread comes with a question.
  await until('there are statistics', async () => (await fetch(`${url}/api/stats_data/Porch`)).ok)
  const told = () => [...output().matchAll(/^\{"heapBytesMax".*$/gm)].map(([line]) => JSON.parse(line) as Told)
  await until('three threads tell their limits', () => told().length >= 3)
  for (const { heapBytesMax, limits } of told()) {
    const young = heapBytesMax / 1024 ** 2 - limits.maxOldGenerationSizeMb
    // V8 makes it a power of two times three.
    t.ok(young < 2 * limits.maxYoungGenerationSizeMb, `${young} MiB of ${limits.maxYoungGenerationSizeMb}`)
  }
})

const keepAndReplace = `
  import { constants, PerformanceObserver } from 'node:perf_hooks'
  import { parentPort } from 'node:worker_threads'
  let searches = 0
  const count = ({ detail }) => { if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) searches++ }
  new PerformanceObserver(list => list.getEntries().forEach(count)).observe({ entryTypes: ['gc'] })
  const kept = []
  for (let turn = 0; turn < 200; turn++) {
    kept[turn % 8] = Array.from({ length: 125_000 }, (_, place) => place + 0.5 * turn)
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  // The entries come behind what runs.
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
  parentPort.postMessage(searches)
`

/** How often V8 searches the whole memory of a thread that keeps 8 MB and replaces 1 MB of it at a time. */
async function searchesOfThread(): Promise<number> {
  const url = new URL(`data:text/javascript,${encodeURIComponent(keepAndReplace)}`)
  const limits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 }
  const worker = new Worker(url, { env: {}, execArgv: [], resourceLimits: limits })
  const [searches] = await once(worker, 'message')
  return searches
}

test('the memory of a thread is not searched for garbage again and again', async t => {
  const before = await searchesOfThread()
  setThreadFlags()
  const after = await searchesOfThread()
  // Seen: 18 and 10.
  t.ok(after < before, `${after} times instead of ${before}`)
})
