import { test } from 'tap'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

interface Told {
  heapBytesMax: number
  limits: { maxOldGenerationSizeMb: number; maxYoungGenerationSizeMb: number }
}

const preload = import.meta.resolve('../support/tell-thread-limits.ts')

test('every worker thread has the limits of its own kind', async t => {
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
