/** A worker of the runner: the QuestDB, the service and the browser that its test files use one after the other. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lenderVariable } from './support/borrow.ts'
import { launchBrowser } from './support/browser.ts'
import { type SharedService, startService } from './support/service.ts'
import { type LentQuestdb, type RunningQuestdb, startWorkerQuestdb } from './support/worker-questdb.ts'

export interface Worker {
  /** For the processes of the test files. */
  environment: NodeJS.ProcessEnv
  /** After each file. One that has failed may have left anything behind, so the next file gets everything anew. */
  endFile(hasPassed: boolean): Promise<void>
  close(): Promise<void>
}

/** Each is started by the first file that asks for it. */
export async function openWorker(environment: NodeJS.ProcessEnv): Promise<Worker> {
  let ends: (() => unknown)[] = []
  const hooks = { teardown: (work: () => unknown) => void ends.unshift(work) }
  let questdb: RunningQuestdb | undefined
  let isQuestdbLent = false
  let service: Promise<SharedService> | undefined
  let browser: Promise<string> | undefined
  let lending: Promise<unknown> = Promise.resolve()

  async function end(): Promise<void> {
    const works = ends
    ends = []
    const ending = questdb
    questdb = undefined
    service = undefined
    browser = undefined
    for (const work of works) await work()
    await ending?.close()
  }

  async function lendQuestdb(): Promise<LentQuestdb | undefined> {
    if (isQuestdbLent) return undefined
    isQuestdbLent = true
    try {
      if (questdb !== undefined) return await questdb.empty()
    } catch {
      await questdb?.close()
    }
    questdb = await startWorkerQuestdb(environment)
    return await questdb.empty()
  }

  async function lend(what: string): Promise<unknown> {
    if (what === '/questdb') return await lendQuestdb()
    if (what === '/browser') {
      browser ??= launchBrowser(hooks)
      return await browser
    }
    service ??= startService(hooks, { environment })
    const { url, dataDirectory } = await service
    return { url, dataDirectory }
  }

  const server = createServer(({ method, url = '' }, response) => {
    if (method === 'DELETE') isQuestdbLent = false
    const answered = method === 'POST' ? lend(url) : Promise.resolve(undefined)
    lending = Promise.allSettled([lending, answered])
    answered.then(
      lent => response.end(JSON.stringify(lent)),
      error => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    environment: { ...environment, [lenderVariable]: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    async endFile(hasPassed) {
      // The file may have ended before it was there.
      await lending
      isQuestdbLent = false
      if (hasPassed) questdb?.setFrozen(true)
      else await end()
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await end()
    },
  }
}
