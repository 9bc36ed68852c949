/** A worker of the runner: the QuestDB, the service and the browser that its test files use one after the other. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lenderVariable } from './support/borrow.ts'
import { launchBrowser } from './support/browser.ts'
import { familyOf } from './support/processes.ts'
import { type Service, startService } from './support/service.ts'
import { type LentQuestdb, type RunningQuestdb, startWorkerQuestdb } from './support/worker-questdb.ts'

export interface Worker {
  /** The environment of the test files' processes. */
  environment: NodeJS.ProcessEnv
  /**
   * Called after each file. A failed file may leave anything behind, so the next file gets new parts. Ends the parts that no later
   * file uses: an idle service takes 6 % of a processor.
   */
  endFile(hasPassed: boolean, isUsedLater?: (part: 'service' | 'browser') => boolean): Promise<void>
  close(): Promise<void>
}

/**
 * The first file that needs a part starts it. QuestDB and the browser are stopped by a signal while unused: an idle one takes a
 * tenth of a processor.
 */
export async function openWorker(environment: NodeJS.ProcessEnv): Promise<Worker> {
  const ends = { service: [] as (() => unknown)[], browser: [] as (() => unknown)[] }
  const hooksOf = (part: keyof typeof ends) => ({ teardown: (work: () => unknown) => void ends[part].unshift(work) })
  let questdb: RunningQuestdb | undefined
  let isQuestdbLent = false
  let service: Promise<Service> | undefined
  let browser: Promise<{ url: string; pid: number }> | undefined
  let lending: Promise<unknown> = Promise.resolve()
  const freezer = createFreezer()
  process.once('exit', freezer.thawAll)

  async function endPart(part: keyof typeof ends): Promise<void> {
    freezer.thaw(part)
    if (part === 'service') service = undefined
    else browser = undefined
    for (const work of ends[part].splice(0)) await work()
  }

  async function end(): Promise<void> {
    freezer.thawAll()
    const ending = questdb
    questdb = undefined
    await endPart('service')
    await endPart('browser')
    await ending?.close()
  }

  async function lendQuestdb(): Promise<LentQuestdb | undefined> {
    if (isQuestdbLent) return undefined
    isQuestdbLent = true
    try {
      freezer.thaw('questdb')
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
      browser ??= launchBrowser(hooksOf('browser'))
      freezer.thaw('browser')
      return (await browser).url
    }
    service ??= startService(hooksOf('service'), { environment })
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
    async endFile(hasPassed, isUsedLater = () => true) {
      // The file may have ended before the part was ready.
      await lending
      isQuestdbLent = false
      if (!hasPassed) return await end()
      for (const part of ['service', 'browser'] as const) if (!isUsedLater(part)) await endPart(part)
      freezer.freeze('questdb', questdb?.pid())
      freezer.freeze('browser', (await browser)?.pid)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await end()
      process.off('exit', freezer.thawAll)
    },
  }
}

/** Stops processes and their descendants by signals until they are used. */
function createFreezer() {
  const frozen = new Map<string, number[]>()

  /** The parent resumes last: by then its servers have responded. */
  function thaw(name: string): void {
    const family = frozen.get(name) ?? []
    frozen.delete(name)
    for (const each of family.reverse()) signal(each, 'SIGCONT')
  }

  return {
    /** The parent stops first, since it starts the others. */
    freeze(name: string, pid: number | undefined): void {
      if (pid === undefined || frozen.has(name)) return
      const family = familyOf(pid)
      frozen.set(name, family)
      for (const each of family) signal(each, 'SIGSTOP')
    },
    thaw,
    thawAll: () => [...frozen.keys()].forEach(thaw),
  }
}

/** A member of the family may end by itself. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {}
}
